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
    ["in one of the usual places when there is no PATH", "sh", () => ({})],
    ["by its path", "./script", () => ({ cwd: folder })],
  ])("that is there %s", async (_name, command, where) => {
    await checkExecutable(command, where());
  });

  it.each([
    ["script", "/nowhere", 127, "Cannot run script: there is no program of that name in PATH"],
    ["./absent", "", 127, "Cannot run ./absent: there is no such file"],
    ["./plain", "", 126, "Cannot run ./plain: it is not executable; chmod +x ./plain makes it so"],
    ["./folder", "", 126, "Cannot run ./folder: it is a directory"],
  ])("%s that cannot be run with PATH %j: exit code %i", async (command, path, exitCode, message) => {
    await expect(checkExecutable(command, { path, cwd: folder })).rejects.toMatchObject({
      exitCode,
      message,
    });
  });

  it("in PATH that is not executable", async () => {
    await expect(checkExecutable("plain", { path: folder })).rejects.toMatchObject({ exitCode: 126 });
    await expect(checkExecutable("folder", { path: folder })).rejects.toMatchObject({ exitCode: 127 });
  });

  it("in a directory that is not there", async () => {
    await expect(checkExecutable("sh", { cwd: "/not/there" })).rejects.toMatchObject({
      exitCode: 2,
      message: "Cannot run sh in /not/there: there is no such directory, see --cwd",
    });
  });
});
