/** Which modules a program loads when it imports this package. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const read = (name: string): string => readFileSync(join(root, name), "utf8");

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
    "@tenure/base",
    "client-node.ts",
    "client.ts",
    "errors.ts",
    "index.ts",
    "load-config.ts",
    "node:path",
    "platform.ts",
  ]);
});
