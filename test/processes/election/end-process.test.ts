/** The last resort: a process that must not go on does not, whoever and wherever it is. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { checkBuild } from "./members.ts";

const platform = fileURLToPath(new URL("../../../packages/election/dist/platform.js", import.meta.url));

/** Each goes on for ever if it is not ended. */
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

/** Its stderr is full, and nobody reads it. */
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

/** Process 1 of a namespace of its own, as in a container. */
const firstProcess = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
const canUnshare = spawnSync("unshare", [...firstProcess.slice(1), "true"]).status === 0;
if (!canUnshare)
  console.warn("unshare --pid is not possible here: ending process 1 of a container is not tested");

function run(code: string, prefix: readonly string[] = [], stderr: "heard" | "unheard" = "heard") {
  const [command = "", ...args] = [...prefix, process.execPath, "--input-type=module", "-e", code];
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  if (stderr === "unheard") child.stderr.destroy();
  const timer = setTimeout(() => child.kill("SIGKILL"), 8_000);
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const startedAt = Date.now();
  return new Promise<{ signal: string | null; said: string; tookMs: number }>((resolve) => {
    child.once("close", (_code, signal) => {
      clearTimeout(timer);
      resolve({ signal, said, tookMs: Date.now() - startedAt });
    });
  });
}

beforeAll(checkBuild);

describe("endProcess", { timeout: 20_000 }, () => {
  it.each([
    ["the main thread", inMain],
    ["a worker, while the main thread is blocked", inWorker],
  ])("from %s: by SIGKILL, with the sentence on stderr", async (_where, code) => {
    const { signal, said, tookMs } = await run(code);
    expect([signal, said]).toEqual(["SIGKILL", "that is enough\n"]);
    expect(tookMs).toBeLessThan(5_000);
  });

  it("with nobody left to hear it", async () => {
    const { signal, tookMs } = await run(inMain, [], "unheard");
    expect(signal).toBe("SIGKILL");
    expect(tookMs).toBeLessThan(5_000);
  });

  it("with a stderr that is full, as whoever should read it does not", async () => {
    // A pipe of the shell's, as containers have; what Node gives to a child is a socket.
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
  ])("as process 1 of a container, which no signal from within can kill, from %s", async (_where, code) => {
    const { said, tookMs } = await run(code, firstProcess);
    expect(said).toMatch(/^that is enough\n/);
    expect(tookMs).toBeLessThan(5_000);
  });
});
