/** On a machine without Node: the single binary, alone in an empty folder, hands over after three commands. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBinaries } from "../../scripts/release/binary.mjs";
import { krewManifest } from "../../scripts/release/krew.mjs";
import { Desk, handOver } from "./handover.ts";

const isSupported = process.platform === "linux" && process.arch === "x64";
if (!isSupported)
  console.log(`the binary is not tested on ${process.platform}-${process.arch}, only on linux-x64`);

describe.runIf(isSupported)("the single binary", () => {
  let folder: string;
  let desk: Desk;
  let tenure: string;
  /** A PATH with a shell and nothing of Node. */
  let path: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tenure-binaries-"));
    const [built] = await buildBinaries(folder, ["x64"]);
    tenure = built?.file ?? "";
    desk = new Desk();
    path = mkdtempSync(join(tmpdir(), "tenure-path-"));
    for (const name of ["sh", "sleep"]) symlinkSync(`/bin/${name}`, join(path, name));
  });
  afterAll(() => {
    desk?.close();
    for (const each of [folder, path]) rmSync(each, { recursive: true, force: true });
  });

  it("prints its version", () => {
    expect(execFileSync(tenure, ["--version"], { env: {}, encoding: "utf8" })).toMatch(
      /^tenure \d+\.\d+\.\d+\n$/,
    );
  });

  it("three commands to a handover, and its watchdog works", async () => {
    expect(readdirSync(path).sort()).toEqual(["sh", "sleep"]);
    await handOver(desk, [tenure], path);
  });

  it("says that it cannot store the sandbox's data on disk, and what to do", () => {
    const run = () =>
      execFileSync(tenure, ["sandbox", "--port", "0", "--data-dir", join(desk.folder, "data")], {
        env: { HOME: desk.folder },
        encoding: "utf8",
        stdio: "pipe",
      });
    expect(run).toThrow(/cannot store data on disk\. Leave out --data-dir/);
  });
});

it("the manifest for krew names the archive of each architecture and its checksum", () => {
  const text = krewManifest("1.2.3", "https://git.example/tenure", [
    { arch: "x64", archive: "tenure-linux-x64.tar.gz", sha256: "aa" },
    { arch: "arm64", archive: "tenure-linux-arm64.tar.gz", sha256: "bb" },
  ]);
  expect(text).toContain("version: v1.2.3");
  expect(text).toMatch(/arch: amd64\n {4}uri: \S+\/v1\.2\.3\/tenure-linux-x64\.tar\.gz\n {4}sha256: aa/);
  expect(text).toMatch(/arch: arm64\n {4}uri: \S+\/v1\.2\.3\/tenure-linux-arm64\.tar\.gz\n {4}sha256: bb/);
});
