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
  ])("that exists %s", (_name, command, where) => {
    checkExecutable(command, where());
  });

  it.each([
    ["script", "/nowhere", 127, "Cannot run script: no directory in PATH has a program of this name"],
    ["./absent", "", 127, "Cannot run ./absent: the file does not exist"],
    ["./plain", "", 126, "Cannot run ./plain: it is not executable; run chmod +x ./plain"],
    ["./folder", "", 126, "Cannot run ./folder: it is a directory"],
  ])("%s cannot be run with PATH %j: exit code %i", (command, path, exitCode, message) => {
    expect(() => checkExecutable(command, { path, cwd: folder })).toThrow(
      expect.objectContaining({ exitCode, message }),
    );
  });

  it("in PATH that is not executable", () => {
    const start = (name: string) => () => checkExecutable(name, { path: folder });
    expect(start("plain")).toThrow(expect.objectContaining({ exitCode: 126 }));
    expect(start("folder")).toThrow(expect.objectContaining({ exitCode: 127 }));
  });

  it("in a directory that does not exist", () => {
    const message = "Cannot run sh in /not/there: the directory does not exist; correct --cwd";
    expect(() => checkExecutable("sh", { cwd: "/not/there" })).toThrow(
      expect.objectContaining({ exitCode: 2, message }),
    );
  });
});
