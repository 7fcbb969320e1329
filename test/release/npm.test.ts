/** On a machine with nothing but Node: the packed tarball, installed into an empty folder, hands over after three commands. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkSizes } from "../../scripts/release/check.mjs";
import { licenceProblems, productionComponents, sbom } from "../../scripts/release/sbom.mjs";
import { type Packed, packPackages } from "../../scripts/release/stage.mjs";
import { Desk, handOver } from "./handover.ts";

let folder: string;
let packed: Packed[];
const repository = "https://git.example/tenure";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tenure-packed-"));
  packed = await packPackages(folder, { repository });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifestOf = (name: string) =>
  JSON.parse(readFileSync(join(folder, "staged", name, "package.json"), "utf8"));

describe("the packages", () => {
  it("have a licence, a README, types and source maps, no leftovers, and are not larger than they should be", () => {
    expect(checkSizes(packed)).toEqual([]);
  });

  it("say where they come from, and that they can be shaken", () => {
    for (const { folder: name } of packed) {
      const manifest = manifestOf(name);
      expect(manifest.repository).toEqual({
        type: "git",
        url: `git+${repository}.git`,
        directory: `packages/${name}`,
      });
      expect(manifest.keywords).toContain("leader-election");
      expect(manifest.license).toBe("Apache-2.0");
      expect(manifest.sideEffects).toBeDefined();
      expect(manifest.devDependencies).toBeUndefined();
    }
  });

  it("all have one version, and need each other in that version", () => {
    const [{ version = "" } = {}] = packed;
    for (const { folder: name } of packed) {
      const { version: own, dependencies = {} } = manifestOf(name);
      const ours = Object.entries(dependencies).filter(([dependency]) => dependency.startsWith("@tenure/"));
      expect([own, ...ours.map(([, wanted]) => wanted)].every((each) => each === version)).toBe(true);
    }
  });
});

it("dependencies have licences that allow this, and the bill of materials names all of them", async () => {
  const components = await productionComponents();
  expect(licenceProblems(components)).toEqual([]);
  expect(
    licenceProblems([{ name: "x", version: "1", license: "GPL-3.0", path: "x", dependencies: [] }]),
  ).toHaveLength(1);
  const document = JSON.parse(sbom("1.2.3", components));
  expect(document).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
  const names = document.components.map(({ name }: { name: string }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["pg", "@grpc/grpc-js", "commander", "classic-level", "js-yaml"]),
  );
});

describe("tenure from the tarball", () => {
  let desk: Desk;
  beforeAll(() => {
    desk = new Desk();
    const tarball = packed.find(({ name }) => name === "tenure")?.file ?? "";
    writeFileSync(join(desk.folder, "package.json"), '{ "private": true }\n');
    execFileSync("npm", ["install", "--silent", "--no-audit", "--no-fund", tarball], { cwd: desk.folder });
  });
  afterAll(() => desk?.close());

  it("installs no dependency but the optional one for the sandbox's data", () => {
    expect(existsSync(join(desk.folder, "node_modules/@tenure"))).toBe(false);
    expect(existsSync(join(desk.folder, "node_modules/commander"))).toBe(false);
  });

  it("three commands to a handover", async () => {
    const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
    await handOver(desk, [join(desk.folder, "node_modules/.bin/tenure")], path);
  });
});
