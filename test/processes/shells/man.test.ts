/** The manual pages are well-formed: groff and mandoc find nothing to warn of. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("../../../packages/cli/man/", import.meta.url));
const pages = readdirSync(folder);

const checkers: Readonly<Record<string, (file: string) => string[]>> = {
  groff: (file) => ["-man", "-ww", "-Tutf8", "-z", file],
  // Pages have no date, so that a build can be repeated; long lines are examples.
  mandoc: (file) => ["-T", "lint", "-W", "warning", file],
};
const ignored = /missing date|outdated mandoc.db|lower case character|cross reference|sections out of/;

describe.each(Object.entries(checkers))("%s", (checker, args) => {
  const isInstalled = spawnSync(checker, ["--version"]).error === undefined;
  if (!isInstalled) console.log(`manual pages are not checked with ${checker}, because it is not installed`);

  it.runIf(isInstalled).each(pages)("%s", (page) => {
    const { stdout, stderr } = spawnSync(checker, args(folder + page), { encoding: "utf8" });
    const complaints = `${stdout}${stderr}`.split("\n").filter((line) => line !== "" && !ignored.test(line));
    expect(complaints).toEqual([]);
  });
});

it("there is a page for every command, and the first one names them", () => {
  expect(pages).toEqual(expect.arrayContaining(["tenure.1", "tenure-run.1", "tenure-sandbox-faults-add.1"]));
  expect(readFileSync(`${folder}tenure.1`, "utf8")).toContain("tenure\\-run");
});
