import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemPlatform } from "./platform.ts";

const node = process.execPath;
const run = (script: string, signal = new AbortController().signal, maxBytes = 1000) =>
  systemPlatform.run(node, ["-e", script], { env: process.env, interactive: false, maxBytes, signal });

describe("readFile", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "tenure-kube-"));
  });
  afterAll(() => rm(dir, { recursive: true }));

  it("gives the text, also where a read ends inside a character", async () => {
    const text = `${"x".repeat(64 * 1024 - 1)}ü€`;
    await writeFile(join(dir, "a"), text);
    expect(await systemPlatform.readFile(join(dir, "a"), 1 << 20)).toBe(text);
  });
  it("stops at the limit, also where there is no size to ask for", async () => {
    await writeFile(join(dir, "b"), "12345");
    expect(await systemPlatform.readFile(join(dir, "b"), 5)).toBe("12345");
    await expect(systemPlatform.readFile(join(dir, "b"), 4)).rejects.toMatchObject({ code: "EFBIG" });
    await expect(systemPlatform.readFile("/dev/zero", 1 << 20)).rejects.toMatchObject({ code: "EFBIG" });
  });
  it("tells a directory from a file that is not there", async () => {
    await expect(systemPlatform.readFile(dir, 10)).rejects.toMatchObject({ code: "EISDIR" });
    await expect(systemPlatform.readFile(join(dir, "c"), 10)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("run", () => {
  it("gives what the program said and how it ended", async () => {
    expect(
      await run("process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 3"),
    ).toEqual({
      exitCode: 3,
      stdout: "out",
      stderr: "err",
    });
  });
  it("rejects for a program that is not there", async () => {
    const options = { env: {}, interactive: false, maxBytes: 10, signal: new AbortController().signal };
    await expect(systemPlatform.run("/nowhere/x", [], options)).rejects.toMatchObject({ code: "ENOENT" });
  });
  it("ends a program that says too much", async () => {
    await expect(run("for(;;) process.stdout.write('x'.repeat(500))")).rejects.toThrow(
      "more than 1000 bytes",
    );
  });
  it.each([
    ["before it runs", false],
    ["while it runs", true],
  ])("ends a program when the signal aborts %s", async (_when, isRunning) => {
    const controller = new AbortController();
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const connected = once(server, "connection");
    const result = run(
      `require("net").connect(${port}, "127.0.0.1").on("error", () => {})`,
      controller.signal,
    );
    result.catch(() => {});
    // The program lives as long as its connection does.
    const [socket] = isRunning ? ((await connected) as [Socket]) : [];
    socket?.resume().on("error", () => {});
    controller.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
    if (socket && !socket.destroyed) await once(socket, "close");
    server.close();
  });
});
