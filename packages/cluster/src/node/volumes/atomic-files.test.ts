import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { writeAtomically } from "./atomic-files.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-files-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const files = (content: Record<string, string>, mode = 0o644) =>
  new Map(Object.entries(content).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));
const visible = () => readdirSync(folder).filter((name) => !name.startsWith(".."));

it("replaces all files at once, and removes those that are gone", async () => {
  await writeAtomically(folder, files({ a: "1", "sub/b": "2" }));
  expect(readFileSync(join(folder, "sub/b"), "utf8")).toBe("2");
  await writeAtomically(folder, files({ a: "3", c: "4" }));
  expect(visible().sort()).toEqual(["a", "c"]);
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("3");
  expect(readdirSync(folder).filter((name) => name.startsWith("..version-"))).toHaveLength(1);
});

it("sets the mode of files", async () => {
  await writeAtomically(folder, files({ key: "x" }, 0o400));
  expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o400);
});

it.each(["../x", "/x", "a/../../x", ""])("rejects the path %j", async (path) => {
  await expect(writeAtomically(folder, files({ [path]: "x" }))).rejects.toThrow("must be relative");
});
