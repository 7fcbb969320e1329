/** `tenure sandbox node` as a process of its own, and kubectl into its pods: exec with a terminal, port-forward, logs. */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Body } from "../../conformance/target.ts";
import { endAll, type Running, start } from "../operate/commands.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
const hasScript = spawnSync("script", ["--version"]).status === 0;
/** A number that no other process of this machine has. */
const mark = `77${process.pid}`;
let folder: string;
let client: KubeClient;
let node: Running;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-node-"));
  const kubeconfig = join(folder, "kubeconfig");
  const flags = ["--port", "0", "--nodes", "0", "--kubeconfig-out", kubeconfig];
  await start(["sandbox", ...flags], { HOME: folder }).line(/"ready"/);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
  node = start(["sandbox", "node", "--name", "Extra", "--kubeconfig", kubeconfig, "--log-format", "json"], {
    HOME: folder,
  });
  await node.line(/"ready"/);
  const server = `require("http").createServer((_, answer) => answer.end("hello")).listen(3000); console.log("listens")`;
  await client.request({
    method: "POST",
    path: "/api/v1/namespaces/default/pods",
    body: {
      metadata: { name: "web" },
      spec: {
        containers: [
          {
            name: "web",
            image: "node",
            command: [process.execPath, "-e", server, mark],
            readinessProbe: { httpGet: { port: 3000 }, periodSeconds: 1 },
          },
        ],
      },
    },
  });
  const isReady = async () => {
    const { spec, status } = await client.request<Body>({
      method: "GET",
      path: "/api/v1/namespaces/default/pods/web",
    });
    const ready = status.conditions?.find(({ type }: Body) => type === "Ready");
    return [spec.nodeName, ready?.status];
  };
  await vi.waitFor(async () => expect(await isReady()).toEqual(["extra", "True"]), { timeout: 30_000 });
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  client.close();
  endAll();
  await rm(folder, { recursive: true, force: true });
});

const environment = () => ({ ...process.env, KUBECONFIG: join(folder, "kubeconfig"), HOME: folder });
const run = async (command: string, ...args: string[]) =>
  (await promisify(execFile)(command, args, { env: environment(), timeout: 30_000 })).stdout;

it("kubectl reads the log, and runs programs in the container", async ({ skip }) => {
  skip(!hasKubectl, "kubectl is not installed");
  expect(await run("kubectl", "logs", "web")).toBe("listens\n");
  expect(
    await run("kubectl", "exec", "web", "--", "sh", "-c", "echo $HOSTNAME; test -t 0 || echo no terminal"),
  ).toBe("web\nno terminal\n");
  await expect(run("kubectl", "exec", "web", "--", "sh", "-c", "exit 3")).rejects.toMatchObject({ code: 3 });
});

it("kubectl exec -it gives the program a terminal", async ({ skip }) => {
  skip(!hasKubectl || !hasScript, "kubectl or script is not installed");
  // script gives kubectl a terminal, without which it does not ask for one.
  const inside = 'test -t 0 && test -t 1 && echo "a terminal"; read answer; echo "got $answer"';
  const command = `kubectl exec -it web -- sh -c '${inside}'`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env: environment() });
  children.push(child);
  let output = "";
  child.stdout.on("data", (piece) => {
    output += piece;
  });
  await expect.poll(() => output).toContain("a terminal");
  child.stdin.write("typed\r");
  await expect.poll(() => output).toContain("got typed");
});

it("kubectl port-forward reaches the program, and says if nothing listens", async ({ skip }) => {
  skip(!hasKubectl, "kubectl is not installed");
  const child = spawn("kubectl", ["port-forward", "pod/web", ":3000"], { env: environment() });
  children.push(child);
  let output = "";
  child.stdout.on("data", (piece) => {
    output += piece;
  });
  await expect.poll(() => output).toMatch(/127\.0\.0\.1:\d+ ->/);
  const [, port] = /127\.0\.0\.1:(\d+) ->/.exec(output) ?? [];
  const answer = await fetch(`http://127.0.0.1:${port}`, { headers: { Connection: "close" } });
  expect(await answer.text()).toBe("hello");
  child.kill();

  const wrong = spawn("kubectl", ["port-forward", "pod/web", ":3999"], { env: environment() });
  children.push(wrong);
  let said = "";
  for (const stream of [wrong.stdout, wrong.stderr]) stream.on("data", (piece) => (said += piece));
  await expect.poll(() => said).toMatch(/127\.0\.0\.1:\d+ ->/);
  const [, other] = /127\.0\.0\.1:(\d+) ->/.exec(said) ?? [];
  await fetch(`http://127.0.0.1:${other}`).catch(() => {});
  await expect.poll(() => said).toContain("Cannot connect to port 3999 of the pod");
});

it("no process of its pods outlives it, even if it is killed", async () => {
  const running = async () => {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
    );
    return lines.filter((line) => line.split("\0").includes(mark)).length;
  };
  expect(await running()).toBeGreaterThan(0);
  node.kill("SIGKILL");
  await node.ran;
  await expect.poll(running).toBe(0);
});
