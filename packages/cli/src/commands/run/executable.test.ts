import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkExecutable } from "./executable.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-executable-"));
  await writeFile(join(folder, "plain"), "");
  await writeFile(join(folder, "script"), "#!/bin/sh\n");
  await chmod(join(folder, "script"), 0o755);
  await mkdir(join(folder, "folder"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a command", () => {
  it.each([
    ["in PATH", "script", () => ({ path: `/nowhere:${folder}` })],
    ["in the standard path if PATH is not set", "sh", () => ({})],
    ["by its path", "./script", () => ({ cwd: folder })],
  ])("that exists %s", async (_name, command, where) => {
    await checkExecutable(command, where());
  });

  it.each([
    ["script", "/nowhere", 127, "Cannot run script: no directory in PATH has a program of this name"],
    ["./absent", "", 127, "Cannot run ./absent: the file does not exist"],
    ["./plain", "", 126, "Cannot run ./plain: it is not executable; run chmod +x ./plain"],
    ["./folder", "", 126, "Cannot run ./folder: it is a directory"],
  ])("%s cannot be run with PATH %j: exit code %i", async (command, path, exitCode, message) => {
    await expect(checkExecutable(command, { path, cwd: folder })).rejects.toMatchObject({
      exitCode,
      message,
    });
  });

  it("in PATH that is not executable", async () => {
    await expect(checkExecutable("plain", { path: folder })).rejects.toMatchObject({ exitCode: 126 });
    await expect(checkExecutable("folder", { path: folder })).rejects.toMatchObject({ exitCode: 127 });
  });

  it("in a directory that does not exist", async () => {
    await expect(checkExecutable("sh", { cwd: "/not/there" })).rejects.toMatchObject({
      exitCode: 2,
      message: "Cannot run sh in /not/there: the directory does not exist; correct --cwd",
    });
  });
});
