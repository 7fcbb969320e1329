import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemNodePlatform } from "../platform.ts";
import { isReady, type NodeRig, shell, startNodeRig } from "../testing/node-rig.ts";
import { chooseIsolation } from "./choose.ts";

const problem = await chooseIsolation("mounts", systemNodePlatform).then(
  () => undefined,
  (error: Error) => error.message,
);
if (problem) console.log(`Skipped, because this machine does not allow it: ${problem}`);

describe.skipIf(problem !== undefined)("containers with their own namespaces", () => {
  let rig: NodeRig;
  beforeAll(async () => {
    rig = await startNodeRig({ isolation: "mounts" });
  });
  afterAll(() => rig.close());

  const logOf = (name: string, of = rig) => {
    const folder = join(of.folder, "node-0/logs");
    const [found = ""] = readdirSync(folder).filter((entry) => entry.startsWith(`default_${name}_`));
    return readFileSync(join(folder, found, "app/0.log"), "utf8").replaceAll(/^\S+ std... F /gm, "");
  };

  it("three replicas write the same file and are ready side by side", async () => {
    const names = ["one", "two", "three"];
    const script =
      "test ! -e /tmp/ready && echo $(hostname) > /tmp/ready && cat /tmp/ready && exec sleep 600";
    const readinessProbe = { exec: { command: ["cat", "/tmp/ready"] }, periodSeconds: 1 };
    for (const name of names) await rig.create(name, { containers: [shell(script, { readinessProbe })] });
    await Promise.all(names.map((name) => rig.until(name, isReady)));
    expect(names.map((name) => logOf(name).trim())).toEqual(names);
    await Promise.all(names.map((name) => rig.remove(name, 1)));
    await Promise.all(names.map((name) => rig.untilGone(name)));
  });

  it("three Node replicas listen on all addresses with the same port, and each is reached at its own", async () => {
    const names = ["a", "b", "c"];
    const script = 'require("http").createServer((q, r) => r.end(require("os").hostname())).listen(3000)';
    const readinessProbe = { httpGet: { port: 3000 }, periodSeconds: 1 };
    for (const name of names)
      await rig.create(name, {
        containers: [shell("", { command: ["node", "-e", script], readinessProbe })],
      });
    const pods = await Promise.all(names.map((name) => rig.until(name, isReady)));
    const answers = pods.map(({ status }) =>
      fetch(`http://${status?.podIP?.replace(/^10/, "127")}:3000`).then((response) => response.text()),
    );
    expect(await Promise.all(answers)).toEqual(names);
    await Promise.all(names.map((name) => rig.remove(name, 1)));
    await Promise.all(names.map((name) => rig.untilGone(name)));
  });

  it("volumes, token, hosts and last words are at their usual paths", async () => {
    await rig.client.request({
      method: "POST",
      path: "/api/v1/namespaces/default/configmaps",
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "colors" }, data: { color: "blue" } },
    });
    const script = [
      "cat /etc/config/color; echo",
      "ls /var/run/secrets/kubernetes.io/serviceaccount",
      "echo shared > /deep/new/folder/file",
      "grep -c $(hostname) /etc/hosts",
      "echo $$$$",
      "touch /etc/only-here /no-write-to-the-machine",
      "echo bye > /dev/termination-log",
      "touch /etc/config/color 2>/dev/null || echo read-only",
      "pwd",
    ].join("; ");
    const spec = {
      volumes: [
        { name: "config", configMap: { name: "colors" } },
        { name: "cache", emptyDir: {} },
      ],
      restartPolicy: "Never",
      containers: [
        shell(script, {
          workingDir: "/usr/share",
          volumeMounts: [
            { name: "config", mountPath: "/etc/config", readOnly: true },
            { name: "cache", mountPath: "/deep/new/folder" },
          ],
        }),
      ],
      initContainers: [
        shell("echo from init > /deep/new/folder/init", {
          name: "init",
          volumeMounts: [{ name: "cache", mountPath: "/deep/new/folder" }],
        }),
      ],
    };
    await rig.create("paths", spec);
    const pod = await rig.until("paths", ({ status }) => status?.phase === "Succeeded");
    expect(logOf("paths").trim().split("\n")).toEqual([
      "blue",
      "ca.crt",
      "namespace",
      "token",
      "1",
      "1",
      "read-only",
      "/usr/share",
    ]);
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe("bye\n");
    expect(existsSync("/etc/only-here")).toBe(false);
    expect(existsSync("/no-write-to-the-machine")).toBe(false);
  });

  it("SIGTERM reaches the container, and its exit code comes back", async () => {
    const script = 'trap "echo bye; exit 5" TERM; echo up; while :; do sleep 0.1; done';
    await rig.create("graceful", { containers: [shell(script)], restartPolicy: "Never" });
    await rig.until("graceful", isReady);
    await expect.poll(() => logOf("graceful")).toContain("up");
    const watch = new AbortController();
    const exits: string[] = [];
    const watching = rig.client.watch({
      path: "/api/v1/namespaces/default/pods",
      query: { fieldSelector: "metadata.name=graceful" },
      signal: watch.signal,
      onUp: () => {},
      onDown: () => {},
      onEvent: ({ object }) => exits.push(...(JSON.stringify(object).match(/"exitCode":\d+/) ?? [])),
    });
    await rig.remove("graceful");
    await rig.untilGone("graceful");
    await expect.poll(() => exits).toContain('"exitCode":5');
    watch.abort();
    await watching;
  });

  it("variables keep names that a shell does not know, in the container and in programs that enter it", async () => {
    const program =
      'const { env } = process; console.log(env["data-1"], env["app.name"], Object.keys(env).filter((name) => name.includes("ODD")))';
    const command = [process.execPath, "-e", program];
    const env = [
      { name: "data-1", value: "one" },
      { name: "app.name", value: "two words" },
    ];
    const readinessProbe = {
      exec: { command: [process.execPath, "-e", 'process.exit(process.env["data-1"] === "one" ? 0 : 1)'] },
      periodSeconds: 1,
    };
    await rig.create("named", { containers: [shell("", { command, env })], restartPolicy: "Never" });
    await rig.until("named", ({ status }) => status?.phase === "Succeeded");
    expect(logOf("named")).toBe("one two words []\n");
    await rig.create("probed", { containers: [shell("exec sleep 600", { env, readinessProbe })] });
    await rig.until("probed", isReady);
  });

  it("a script below /tmp finds the files beside it, and other arguments stay the container's own", async () => {
    mkdirSync(join(rig.folder, "scripts"));
    writeFileSync(join(rig.folder, "beside"), "beside");
    const script = join(rig.folder, "scripts/main.sh");
    writeFileSync(script, 'cat "$(dirname "$0")/../beside"; test -e "$1" || echo " and empty"');
    const other = mkdtempSync(join(tmpdir(), "tenure-other-"));
    const command = ["/bin/sh", script, other];
    await rig.create("script", { restartPolicy: "Never", containers: [shell("", { command })] });
    await rig.until("script", ({ status }) => status?.phase === "Succeeded");
    expect(logOf("script")).toBe("beside and empty\n");
    rmSync(other, { recursive: true });
  });

  it("what an image has in rootfs is at / of the container, and the container's changes to it are its own", async () => {
    const folder = join(rig.folder, "rooted");
    mkdirSync(join(folder, "rootfs/data"), { recursive: true });
    writeFileSync(join(folder, "rootfs/certificate"), "file");
    writeFileSync(join(folder, "rootfs/data/inner"), "folder");
    const script = "cat /certificate /data/inner; echo; echo x > /certificate; echo x > /data/inner";
    const other = await startNodeRig({ isolation: "mounts", images: { app: folder } });
    try {
      const container = shell(script, { image: "app:1" });
      await other.create("rooted", { containers: [container], restartPolicy: "Never" });
      await other.until("rooted", ({ status }) => status?.phase === "Succeeded");
      expect(logOf("rooted", other)).toBe("filefolder\n");
      expect(readFileSync(join(folder, "rootfs/certificate"), "utf8")).toBe("file");
      expect(readFileSync(join(folder, "rootfs/data/inner"), "utf8")).toBe("folder");
    } finally {
      await other.close();
    }
  });

  it("an image folder below /tmp is visible, and the container's changes to it are its own", async () => {
    const folder = join(rig.folder, "image");
    const { mkdirSync } = await import("node:fs");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "main.js"),
      'require("fs").writeFileSync("new", "x"); console.log(process.cwd())',
    );
    writeFileSync(join(folder, "package.json"), '{"main":"main.js"}');
    const other = await startNodeRig({ isolation: "mounts", images: { app: folder } });
    try {
      await other.create("folder", { containers: [{ name: "app", image: "app:1" }], restartPolicy: "Never" });
      await other.until("folder", ({ status }) => status?.phase === "Succeeded");
      expect(existsSync(join(folder, "new"))).toBe(false);
    } finally {
      await other.close();
    }
  });
});
