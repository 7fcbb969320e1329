/** endProcess ends the process from any thread, in any state. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { checkBuild } from "./replicas.ts";

const platform = fileURLToPath(new URL("../../../packages/election/dist/platform.js", import.meta.url));

/** Each of these programs runs until something ends it. */
const inMain = `
  import { endProcess } from ${JSON.stringify(platform)};
  setInterval(() => {}, 1_000);
  setTimeout(() => endProcess("that is enough"), 10);
`;
const inWorker = `
  import { Worker } from "node:worker_threads";
  const code = ${JSON.stringify(`import(${JSON.stringify(platform)}).then(({ endProcess }) => endProcess("that is enough"))`)};
  new Worker(code, { eval: true }).on("online", () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/** Fills its stderr, which nobody reads. */
const unread = `
  import { constants, openSync, writeSync } from "node:fs";
  import { endProcess } from ${JSON.stringify(platform)};
  const stderr = openSync("/dev/fd/2", constants.O_WRONLY | constants.O_NONBLOCK);
  setInterval(() => {
    try {
      for (;;) writeSync(stderr, "x".repeat(4_096));
    } catch {
      endProcess("that is enough");
    }
  }, 100);
`;

/** PID 1 of a new PID namespace, as in a container. */
const firstProcess = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
const canUnshare = spawnSync("unshare", [...firstProcess.slice(1), "true"]).status === 0;
if (!canUnshare)
  console.warn(
    "unshare --pid does not work on this machine: the tests with PID 1 of a container are skipped",
  );

function run(code: string, prefix: readonly string[] = [], stderr: "read" | "closed" = "read") {
  const [command = "", ...args] = [...prefix, process.execPath, "--input-type=module", "-e", code];
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  if (stderr === "closed") child.stderr.destroy();
  const timer = setTimeout(() => child.kill("SIGKILL"), 8_000);
  let output = "";
  child.stderr.on("data", (chunk) => (output += chunk));
  const startedAt = Date.now();
  return new Promise<{ signal: string | null; output: string; tookMs: number }>((resolve) => {
    child.once("close", (_code, signal) => {
      clearTimeout(timer);
      resolve({ signal, output, tookMs: Date.now() - startedAt });
    });
  });
}

beforeAll(checkBuild);

describe("endProcess", { timeout: 20_000 }, () => {
  it.each([
    ["the main thread", inMain],
    ["a worker, while the main thread is blocked", inWorker],
  ])("from %s: dies by SIGKILL, with the message on stderr", async (_where, code) => {
    const { signal, output, tookMs } = await run(code);
    expect([signal, output]).toEqual(["SIGKILL", "that is enough\n"]);
    expect(tookMs).toBeLessThan(5_000);
  });

  it("with a closed stderr", async () => {
    const { signal, tookMs } = await run(inMain, [], "closed");
    expect(signal).toBe("SIGKILL");
    expect(tookMs).toBeLessThan(5_000);
  });

  it("with a full stderr that nobody reads", async () => {
    // The shell makes a pipe, as containers have. Node would give its child a socket.
    const inner = `sh -c 'exec "$@" 2>&1 >/dev/null' sh "$@"`;
    const script = `(${inner}; echo $? >&3) 2>/dev/null | sleep 60`;
    const args = ["-c", script, "sh", process.execPath, "--input-type=module", "-e", unread];
    const shell = spawn("sh", args, { stdio: ["ignore", "ignore", "ignore", "pipe"], detached: true });
    const [exitCode] = await once(shell.stdio[3] as Readable, "data");
    process.kill(-(shell.pid as number), "SIGKILL");
    expect(String(exitCode)).toBe("137\n");
  });

  it.runIf(canUnshare).each([
    ["the main thread", inMain],
    ["a worker, while the main thread is blocked", inWorker],
  ])("as PID 1 of a container, which ignores signals from inside, from %s", async (_where, code) => {
    const { output, tookMs } = await run(code, firstProcess);
    expect(output).toMatch(/^that is enough\n/);
    expect(tookMs).toBeLessThan(5_000);
  });
});
