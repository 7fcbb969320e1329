import { existsSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newTerm } from "../testing/cluster.ts";
import { readyFile, readyUntil } from "./ready-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-ready-"));
  path = join(folder, "ready");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("exists while the gate is open, and leaves no other file", async () => {
  const gate = readyFile({ path });
  await gate.prepare();
  expect(existsSync(path)).toBe(false);
  await gate.open(newTerm(5));
  expect(await readFile(path, "utf8")).toMatch(/^ok\ntoken 5\nuntil \S+\n$/);
  expect(await readdir(folder)).toEqual(["ready"]);
  await gate.close();
  expect(await readdir(folder)).toEqual([]);
  await gate.close();
});

it("removes an old file when the gate is created", () => {
  writeFileSync(path, "ok\n");
  readyFile({ path });
  expect(existsSync(path)).toBe(false);
});

it("says until when it is valid, and extends that at every renewal", async () => {
  const gate = readyFile({ path });
  const before = Date.now();
  await gate.open(newTerm(5, { remainingMs: () => 1_000 }));
  const first = readyUntil(await readFile(path, "utf8")) as number;
  expect(first).toBeGreaterThanOrEqual(before + 1_000);
  expect(first).toBeLessThan(Date.now() + 1_001);
  gate.renewed(newTerm(5, { remainingMs: () => 9_000 }));
  await expect.poll(async () => readyUntil(await readFile(path, "utf8"))).toBeGreaterThan(first + 7_000);
  expect(readyUntil("ok\n")).toBeUndefined();
});

it("is written again at a renewal if somebody removed it, but not after the gate was closed", async () => {
  const gate = readyFile({ path });
  await gate.open(newTerm(5));
  await rm(path);
  gate.renewed(newTerm(5));
  await expect.poll(() => existsSync(path)).toBe(true);
  gate.renewed(newTerm(5));
  await gate.close();
  gate.renewed(newTerm(5));
  await gate.close();
  expect(existsSync(path)).toBe(false);
});

it("is not written for an expired term", async () => {
  const gate = readyFile({ path });
  await expect(gate.open(newTerm(5, { isValid: () => false }))).rejects.toThrow("the term has expired");
  expect(await readdir(folder)).toEqual([]);
});

it("is not written through a symbolic link at the path of the temporary file", async () => {
  const victim = join(folder, "victim");
  await writeFile(victim, "precious");
  await symlink(victim, `${path}.new`);
  await readyFile({ path }).open(newTerm(5));
  expect(await readFile(victim, "utf8")).toBe("precious");
});

it("rejects a missing directory, or a file in its place, before the election", async () => {
  await expect(readyFile({ path: join(folder, "no/ready") }).prepare()).rejects.toMatchObject({
    code: "CannotOpen",
    message: expect.stringContaining("Mount an emptyDir there, or choose another path"),
  });
  await writeFile(join(folder, "file"), "");
  expect(() => readyFile({ path: join(folder, "file/ready") })).toThrow("Cannot remove the old ready file");
});

it("reports that the file cannot be removed", async () => {
  const gate = readyFile({ path });
  await gate.open(newTerm(5));
  await rm(path);
  // A directory cannot be removed as a file, not even by root.
  await import("node:fs/promises").then(({ mkdir }) => mkdir(path));
  await expect(gate.close()).rejects.toMatchObject({ code: "CannotClose" });
  await chmod(folder, 0o700);
});
