/** What the first pages claim: figures are those of the last benchmark, the state of the release is true, imports exist. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { publicPackages } from "../../../scripts/release/packages.mjs";
import { exportedNames, root } from "../sources.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const cellsOf = (row: string) => row.split("|").map((cell) => cell.trim());
const rowsOf = (text: string) => text.split("\n").filter((line) => /^\|.*\|$/.test(line));

describe("figures", () => {
  const measured = rowsOf(read("docs/benchmarks.md")).map(cellsOf);
  const wereMeasured = (tenure: string, clientGo: string) =>
    measured.some((row) => row[2] === tenure && row[3] === clientGo);

  it("of the first page are in the last run", () => {
    const [, section = ""] = /\n## Measured\n([\s\S]*?)\n## /.exec(read("docs/why.md")) ?? [];
    const claims = rowsOf(section).map(cellsOf).slice(2);
    expect(claims.length).toBeGreaterThan(5);
    expect(claims.filter(([, , tenure = "", clientGo = ""]) => !wereMeasured(tenure, clientGo))).toEqual([]);
  });

  it("of the README are in the last run", () => {
    const claims = [...read("README.md").matchAll(/([\d.]+ ms) \(client-go: ([\d.]+ ms)\)/g)];
    expect(claims.length).toBeGreaterThan(1);
    expect(claims.filter(([, tenure = "", clientGo = ""]) => !wereMeasured(tenure, clientGo))).toEqual([]);
  });

  it("in the picture are those of the first page, rounded", () => {
    const [graceful = "", crash = ""] = [...read("docs/why.md").matchAll(/\| ([\d.]+) ms \| \d+ ms \|/g)]
      .filter((_, index) => index !== 1)
      .map(([, value]) => `${Math.round(Number(value))} ms`);
    const picture = [...read("docs/pictures/handover.svg").matchAll(/>(\d+ ms)</g)].map(([, value]) => value);
    expect(picture).toEqual([graceful, crash]);
  });
});

describe("the release", () => {
  const isOut = /^## \[?\d/m.test(read("CHANGELOG.md"));

  it.each(["README.md", "docs/install.md"])("%s says whether it is out", (page) => {
    expect(/first release is not published yet/.test(read(page))).toBe(!isOut);
  });

  it("has the version that the page installs", () => {
    const { version } = JSON.parse(read("packages/cli/package.json"));
    const named = [...read("docs/install.md").matchAll(/-(\d+\.\d+\.\d+)\.tgz/g)].map(([, each]) => each);
    expect(new Set(named)).toEqual(new Set([version]));
  });

  it("contains what the library needs, and the page installs all of that", () => {
    const packed = [...read("docs/install.md").matchAll(/tarballs\/tenure-([a-z]+)-/g)].map(
      ([, each]) => each,
    );
    const { dependencies } = JSON.parse(read("packages/election/package.json"));
    const needed = Object.keys(dependencies).map((name) => name.replace("@tenure/", ""));
    expect(packed.toSorted()).toEqual([...needed, "election"].toSorted());
  });
});

describe("docs/reference/api.md", () => {
  const rows = rowsOf(read("docs/reference/api.md")).map(cellsOf).slice(2);
  const packageOf = (cell: string) => /@tenure\/([a-z]+)/.exec(cell)?.[1] ?? "";

  it("names every package that users import, and the generated pages are of the same ones", () => {
    const named = rows.map(([, cell = ""]) => packageOf(cell)).toSorted();
    const parts = ["base", "core", "cluster", "cli"];
    expect(named).toEqual(
      Object.keys(publicPackages)
        .filter((name) => !parts.includes(name))
        .toSorted(),
    );
    const { entryPoints } = JSON.parse(read("site/typedoc.json"));
    const generated = entryPoints.map((path: string) => path.split("/")[2]);
    expect([...new Set(generated)].toSorted()).toEqual(named);
  });

  it("names values that the package exports", () => {
    for (const [, first = "", , imports = ""] of rows) {
      const exported = exportedNames(read(`packages/${packageOf(first)}/src/index.ts`)).map(
        ({ name }) => name,
      );
      const named = [...imports.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !exported.includes(name as string))).toEqual([]);
    }
  });
});
