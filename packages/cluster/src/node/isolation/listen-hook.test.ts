import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listenHook, withListenHook } from "./listen-hook.ts";

let folder = "";
let env: Record<string, string> = {};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-hook-"));
  writeFileSync(join(folder, "hook.cjs"), listenHook);
  env = withListenHook({ PATH: process.env.PATH ?? "" }, join(folder, "hook.cjs"), "127.244.222.9");
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ["0", "127.244.222.9"],
  ["'0'", "127.244.222.9"],
  ["0, '0.0.0.0'", "127.244.222.9"],
  ["0, '::', 128", "127.244.222.9"],
  ["0, 128", "127.244.222.9"],
  ["0, undefined", "127.244.222.9"],
  ["{ port: 0 }", "127.244.222.9"],
  ["{ port: 0, host: '0.0.0.0', backlog: 9 }", "127.244.222.9"],
  ["0, '127.0.0.1'", "127.0.0.1"],
  ["{ port: 0, host: '127.0.0.1' }", "127.0.0.1"],
])("listen(%s) listens on %s", async (args, address) => {
  const script = `const s = require("http").createServer();
    s.listen(${args}).once("listening", () => { console.log(s.address().address); s.close(); });`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", script], { env });
  expect(stdout.trim()).toBe(address);
});

it("keeps the options that the container already has", () => {
  expect(withListenHook({ NODE_OPTIONS: "--no-warnings" }, "/h.cjs", "x").NODE_OPTIONS).toBe(
    "--require=/h.cjs --no-warnings",
  );
});
