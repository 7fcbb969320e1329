import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemPlatform } from "./platform.ts";

const node = process.execPath;
const run = (script: string, signal = new AbortController().signal, maxBytes = 1000) =>
  systemPlatform.runProcess(node, ["-e", script], { env: process.env, interactive: false, maxBytes, signal });

describe("readFile", () => {
  let dir = "";
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "tenure-kube-"));
  });
  afterAll(() => rm(dir, { recursive: true }));

  it("returns the text when a read ends inside a character", async () => {
    const text = `${"x".repeat(64 * 1024 - 1)}ü€`;
    await writeFile(join(dir, "a"), text);
    expect(await systemPlatform.readFile(join(dir, "a"), 1 << 20)).toBe(text);
  });
  it("stops at the limit, even for a device without a size", async () => {
    await writeFile(join(dir, "b"), "12345");
    expect(await systemPlatform.readFile(join(dir, "b"), 5)).toBe("12345");
    await expect(systemPlatform.readFile(join(dir, "b"), 4)).rejects.toMatchObject({ code: "EFBIG" });
    await expect(systemPlatform.readFile("/dev/zero", 1 << 20)).rejects.toMatchObject({ code: "EFBIG" });
  });
  it("rejects with the code of a directory and of a missing file", async () => {
    await expect(systemPlatform.readFile(dir, 10)).rejects.toMatchObject({ code: "EISDIR" });
    await expect(systemPlatform.readFile(join(dir, "c"), 10)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("runProcess", () => {
  it("returns the output and the exit code", async () => {
    expect(
      await run("process.stdout.write('out'); process.stderr.write('err'); process.exitCode = 3"),
    ).toEqual({
      exitCode: 3,
      stdout: "out",
      stderr: "err",
    });
  });
  it("rejects if the program does not exist", async () => {
    const options = { env: {}, interactive: false, maxBytes: 10, signal: new AbortController().signal };
    await expect(systemPlatform.runProcess("/nowhere/x", [], options)).rejects.toMatchObject({
      code: "ENOENT",
    });
  });
  it("kills a program that writes too much", async () => {
    await expect(run("for(;;) process.stdout.write('x'.repeat(500))")).rejects.toThrow(
      "it wrote more than 1000 bytes",
    );
  });
  it.each([
    ["before it runs", false],
    ["while it runs", true],
  ])("kills a program when the signal aborts %s", async (_when, isRunning) => {
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
    // The program runs as long as its connection is open.
    const [socket] = isRunning ? ((await connected) as [Socket]) : [];
    socket?.resume().on("error", () => {});
    controller.abort(new Error("enough"));
    await expect(result).rejects.toThrow("enough");
    if (socket && !socket.destroyed) await once(socket, "close");
    server.close();
  });
});
