/** The code that V8 compiled when the package was built: it is used if it fits, and it never changes what the command does. */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { compileCode } from "../../../scripts/compile-code.mjs";

const cli = fileURLToPath(new URL("../../../packages/cli/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tenure-compiled-"));
const bundle = join(folder, "bundle");
const textFile = join(bundle, "run.cjs");
const isCompiled = (name: string) => name.endsWith(".compiled");
const compiledFile = () => join(bundle, readdirSync(bundle).find(isCompiled) ?? "none");

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(cli, "bin"), join(folder, "bin"), { recursive: true });
  cpSync(join(cli, "bundle"), bundle, { recursive: true, filter: (path) => !path.endsWith(".map") });
  // The folders above decide whether .js files are modules, but not .cjs files.
  copyFileSync(join(cli, "package.json"), join(folder, "package.json"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Prints what V8 did with the compiled code of every script. */
const witness = `
const vm = require("node:vm");
const Original = vm.Script;
vm.Script = class extends Original {
  constructor(text, options) {
    super(text, options);
    console.log(this.cachedDataRejected ? "V8 refused it" : "V8 used it");
  }
};`;

function help(): string {
  writeFileSync(join(folder, "witness.cjs"), witness);
  const args = ["--require", join(folder, "witness.cjs"), join(folder, "bin/tenure.cjs"), "run", "--help"];
  return execFileSync(process.execPath, args, { encoding: "utf8" });
}

const usage = "Usage: tenure run [options] -- command [args...]";

describe("the compiled code", () => {
  it("is used", () => {
    expect(help()).toMatch(/^V8 used it\n/);
    expect(help()).toContain(usage);
  });

  it("has the same bytes when it is compiled again", () => {
    const before = readFileSync(compiledFile());
    compileCode(bundle);
    expect(readFileSync(compiledFile()).equals(before)).toBe(true);
  });

  it("is not used if it is not there", () => {
    rmSync(compiledFile());
    expect(help().startsWith(usage)).toBe(true);
  });

  it("is not used after a change of the text, even one that keeps the length", () => {
    const text = readFileSync(textFile, "utf8");
    expect(text).toContain("command [args...]");
    writeFileSync(textFile, text.replaceAll("command [args...]", "COMMAND [ARGS...]"));
    expect(help().startsWith("Usage: tenure run [options] -- COMMAND [ARGS...]")).toBe(true);
  });

  it.each([
    ["cut off", (bytes: Buffer) => bytes.subarray(0, 1_000)],
    ["empty", () => Buffer.alloc(0)],
  ])("is not used if its file is %s", (_how, damage) => {
    writeFileSync(compiledFile(), damage(readFileSync(compiledFile())));
    expect(help().startsWith(usage)).toBe(true);
  });

  it("is refused by V8 if it is damaged", () => {
    const bytes = readFileSync(compiledFile());
    bytes.fill(0xff, 0, 64);
    writeFileSync(compiledFile(), bytes);
    expect(help()).toMatch(/^V8 refused it\n/);
    expect(help()).toContain(usage);
  });
});
