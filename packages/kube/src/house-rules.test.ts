/** Rules of this package that no compiler checks. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.startsWith("testing"),
);
const read = (name: string): string => readFileSync(join(root, name), "utf8");

it("time, chance and environment come through platform.ts only", () => {
  const banned =
    /\bDate\.now\b|\bnew Date\(\)|\bset(Timeout|Interval)\(|\bMath\.random\b|\bprocess\.|performance\.now/;
  const code = (name: string): string => read(name).replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  expect(sources.filter((name) => name !== "platform.ts" && banned.test(code(name)))).toEqual([]);
});

it("no file is long", () => {
  const all = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  expect(all.filter((name) => read(name).split("\n").length > 250)).toEqual([]);
});

it("importing the package loads no HTTP, no TLS, no YAML, and few files", () => {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    if (!name.endsWith(".ts")) return;
    for (const [, clause = "", from = ""] of read(name).matchAll(
      /^(?:import|export)([^;]*?)from "([^"]+)";/gm,
    )) {
      if (clause.trim().startsWith("type ")) continue;
      visit(from.startsWith(".") ? join(dirname(name), from) : from);
    }
  };
  visit("index.ts");
  expect([...seen].sort()).toEqual([
    "client-node.ts",
    "client.ts",
    "errors.ts",
    "index.ts",
    "load-config.ts",
    "node:path",
    "platform.ts",
    "rbac.ts",
  ]);
});
