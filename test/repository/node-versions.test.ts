/** The lowest version of Node, which is named in many places and which the tools must support too. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "./sources.ts";

const textOf = (path: string): string => readFileSync(join(root, path), "utf8");
const nodeOf = (folder: string): string => JSON.parse(textOf(join(folder, "package.json"))).engines.node;
const lowest = /^>=(\d+)\.(\d+)$/.exec(nodeOf("."))?.slice(1).map(Number) as [number, number];

it.each(readdirSync(join(root, "packages")))("packages/%s names the same lowest version", (name) => {
  expect(nodeOf(`packages/${name}`)).toBe(nodeOf("."));
});

it.each(["vite", "rolldown", "knip"])("%s supports it", (tool) => {
  const [major, minor] = lowest;
  const range = new RegExp(`\\^${major}\\.(\\d+)\\.0`).exec(nodeOf(`node_modules/${tool}`));
  expect(Number(range?.[1])).toBeLessThanOrEqual(minor);
});

it("CONTRIBUTING.md names it, and the tests on several versions begin with it", () => {
  const [major, minor] = lowest;
  expect(textOf("CONTRIBUTING.md")).toContain(`Node ${major}.${minor} or later`);
  expect(textOf("scripts/node-matrix.mjs")).toContain(`"${major}.${minor}.0"`);
});
