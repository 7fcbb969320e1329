/** Which modules a program loads when it imports this package. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const read = (name: string): string => readFileSync(join(root, name), "utf8");

it("importing the package loads no HTTP, no TLS, no YAML and no code of credentials that are not used", () => {
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
  const modules = [...seen];
  expect(modules.filter((name) => !name.endsWith(".ts")).sort()).toEqual([
    "@tenure/base",
    "node:net",
    "node:path",
  ]);
  expect(modules).toContain("http/request.ts");
  expect(modules.filter((name) => /kubeconfig|exec-plugin|in-cluster|tunnel/.test(name))).toEqual([]);
});
