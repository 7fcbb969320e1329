/** What a real child can do with its output, and what of it arrives. */
import { readdirSync } from "node:fs";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { endManagers, newManager } from "../testing/managers.ts";
import type { ManagerOptions } from "./manager.ts";

afterEach(endManagers);

async function outputOf(script: string, options: Partial<ManagerOptions> = {}) {
  const texts = { out: "", err: "" };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.on("data", (chunk) => {
    texts.out += chunk;
  });
  stderr.on("data", (chunk) => {
    texts.err += chunk;
  });
  const { manager, shell } = newManager({ stdout, stderr, ...options });
  const { exited } = await manager.start(shell(script));
  const { code } = await exited;
  await manager.wait();
  await manager.flushed();
  return { code, ...texts };
}

const openDescriptors = () => readdirSync("/proc/self/fd").length;

describe("a child whose output goes through this process", () => {
  it("can open /dev/stdout and /dev/stderr by name", async () => {
    const script = "echo one; echo two > /dev/stdout; echo three > /proc/self/fd/1; echo oops > /dev/stderr";
    expect(await outputOf(script)).toEqual({ code: 0, out: "one\ntwo\nthree\n", err: "oops\n" });
  });

  it("can open the descriptor by which it tells that it is ready", async () => {
    const { manager, shell } = newManager({ channels: { lines: false, ipc: false, fd: 4 } });
    const { process: child, exited } = await manager.start(shell("echo ready > /dev/fd/4"));
    const [text] = await Promise.all([
      new Promise((resolve) => child.stdio[4]?.once("data", (chunk) => resolve(String(chunk)))),
      exited,
    ]);
    expect(text).toBe("ready\n");
  });

  it("gets sockets if no pipe can be created, and all its output still arrives", async () => {
    const result = await outputOf("echo one; echo oops >&2", { pipeFolder: "/nonexistent" });
    expect(result).toEqual({ code: 0, out: "one\n", err: "oops\n" });
  });

  it("leaves no descriptor open, whether it can be started or not", async () => {
    await outputOf("true");
    const before = openDescriptors();
    for (let i = 0; i < 3; i++) await outputOf("echo x");
    const { manager, shell } = newManager();
    await manager.start({ ...shell(""), command: "/no/such/program" }).catch(() => {});
    await expect.poll(openDescriptors, { timeout: 10_000 }).toBe(before);
  });
});
