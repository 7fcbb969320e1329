import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isReady, type NodeRig, shell, startNodeRig } from "../testing/node-rig.ts";

const run = promisify(execFile);
const hasKubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);
if (!hasKubectl) console.log("Skipped, because kubectl is not installed.");

/** kubectl before 1.31 knows only SPDY. */
const dialects = {
  "a WebSocket": {},
  SPDY: { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" },
};

describe.skipIf(!hasKubectl).each(Object.entries(dialects))("kubectl with %s", (_name, dialect) => {
  const env = { ...process.env, ...dialect };
  let rig: NodeRig;
  let home = "";
  beforeAll(async () => {
    rig = await startNodeRig();
    home = mkdtempSync(join(tmpdir(), "tenure-kubectl-"));
    await rig.sandbox.writeKubeconfig(join(home, "config"));
    const script =
      'trap "exit 0" TERM; echo "run $RUNS"; echo problem >&2; while read line; do echo "got $line"; done; while :; do sleep 0.2; done';
    await rig.create("talk", { containers: [shell(script, { stdin: true })] });
    await rig.until("talk", isReady);
  });
  afterAll(async () => {
    await rig.close();
    rmSync(home, { recursive: true });
  });

  const arguments_ = (args: string[]) => [
    `--kubeconfig=${join(home, "config")}`,
    `--cache-dir=${home}`,
    ...args,
  ];
  const kubectl = (...args: string[]) =>
    run("kubectl", arguments_(args), { timeout: 25_000, env }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  const withInput = (input: string, ...args: string[]) =>
    new Promise<{ code: number | null; stdout: string }>((resolve) => {
      const child = spawn("kubectl", arguments_(args), { timeout: 25_000, env });
      let stdout = "";
      child.stdout.on("data", (piece) => {
        stdout += piece;
      });
      child.once("close", (code) => resolve({ code, stdout }));
      child.stdin.end(input);
    });

  it("logs shows output, and takes tail, timestamps and previous", async () => {
    await expect.poll(async () => (await kubectl("logs", "talk")).stdout).toContain("run \n");
    expect((await kubectl("logs", "talk", "--tail=0")).stdout).toBe("");
    expect((await kubectl("logs", "talk", "--timestamps")).stdout).toMatch(/^\d{4}-\d\d-\d\dT\S+Z /);
    expect((await kubectl("logs", "talk", "--previous")).stderr).toContain(
      'previous terminated container "app" in pod "talk" not found',
    );
    expect((await kubectl("logs", "talk", "-c", "none")).stderr).toContain(
      "container none is not valid for pod talk",
    );
  });

  it("logs --follow ends with the container", async () => {
    await rig.create("short", { containers: [shell("echo one; sleep 1; echo two")], restartPolicy: "Never" });
    await rig.until("short", ({ status }) => status?.phase !== "Pending");
    expect((await kubectl("logs", "-f", "short")).stdout).toBe("one\ntwo\n");
  });

  it("exec runs a program in the container: output, errors, input and exit code", async () => {
    const result = await kubectl(
      "exec",
      "talk",
      "--",
      "/bin/sh",
      "-c",
      "echo $HOSTNAME; echo bad >&2; exit 42",
    );
    expect(result).toMatchObject({ code: 42, stdout: "talk\n" });
    expect(result.stderr).toContain("bad");
    expect(await withInput("some input", "exec", "-i", "talk", "--", "cat")).toEqual({
      code: 0,
      stdout: "some input",
    });
    expect((await kubectl("exec", "talk", "--", "no-such-program")).stderr).toContain("no such program");
  });

  it("exec passes on large output completely", async () => {
    const { stdout } = await kubectl(
      "exec",
      "talk",
      "--",
      "/bin/sh",
      "-c",
      "head -c 700000 /dev/zero | tr '\\0' x",
    );
    expect(stdout.length).toBe(700_000);
  });

  it("attach shows new output and passes on input", async () => {
    const child = spawn("kubectl", arguments_(["attach", "-i", "talk"]), { env });
    let stdout = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    child.stdin.write("hello\n");
    await expect.poll(() => stdout).toContain("got hello");
    child.kill();
  });

  it("port-forward connects with a port of the pod, again and again", async () => {
    const script =
      'require("http").createServer((q, r) => r.end("x".repeat(200000) + q.url)).listen(8080, () => console.log("up"))';
    await rig.create("server", { containers: [shell("", { command: ["node", "-e", script] })] });
    await rig.until("server", isReady);
    await expect.poll(async () => (await kubectl("logs", "server")).stdout).toContain("up");
    const child = spawn("kubectl", arguments_(["port-forward", "pod/server", ":8080", ":1"]), { env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    child.stderr.on("data", (piece) => {
      stderr += piece;
    });
    const portOf = (target: string) => new RegExp(`127.0.0.1:(\\d+) -> ${target}\n`).exec(stdout)?.[1];
    try {
      await expect.poll(() => portOf("1")).toBeDefined();
      for (const path of ["/one", "/two"]) {
        const answer = await fetch(`http://127.0.0.1:${portOf("8080")}${path}`, {
          headers: { Connection: "close" },
        });
        expect((await answer.text()).slice(199_990)).toBe(`${"x".repeat(10)}${path}`);
      }
      // Nothing listens there: the client is told, and the other port still works.
      await fetch(`http://127.0.0.1:${portOf("1")}`).catch(() => undefined);
      await expect.poll(() => stderr).toContain("Cannot connect to port 1 of the pod");
    } finally {
      child.kill();
    }
  });

  it("says why nothing runs on a node without an agent", async () => {
    await rig.client.request({
      method: "POST",
      path: "/api/v1/namespaces/default/pods",
      body: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "elsewhere" },
        spec: { nodeName: "other", containers: [{ name: "app", image: "x" }] },
      },
    });
    expect((await kubectl("logs", "elsewhere")).stderr).toContain('node "other" has no node agent');
  });
});
