/** docs/reference matches the declarations of the commands. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { metricsCatalogue } from "@tenure/status/internal";
import { describe, expect, test } from "vitest";
import { declareProgram } from "../../../packages/cli/src/command-line.ts";
import { lineFields, logEvents } from "../../../packages/cli/src/log/events.ts";
import type { Platform } from "../../../packages/cli/src/platform.ts";
import { childVariables, helpPlatform, pages, variables } from "../../../scripts/reference.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = await declareProgram(helpPlatform as unknown as Platform);
const read = (file: string) => readFileSync(`${root}docs/reference/${file}`, "utf8");

describe("docs/reference is up to date (else: npm run build && node scripts/reference.mjs)", () => {
  test.each(Object.entries(pages(program, metricsCatalogue, { lineFields, logEvents })))(
    "%s",
    (file, text) => {
      expect(read(file)).toBe(text);
    },
  );
});

test("every command and every visible flag is listed", () => {
  const text = read("flags.md");
  const commands = program.commands.filter((command) => command.name() !== "help");
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) {
    const [, section = ""] =
      new RegExp(`\\n## tenure ${command.name()}\\n([\\s\\S]*?)(\\n## |$)`).exec(text) ?? [];
    for (const option of command.options.filter(({ hidden }) => !hidden))
      expect(section).toContain(option.long);
  }
});

test("every variable that a package reads is listed", () => {
  const known = new Set([...Object.values(variables).flatMap(Object.keys), ...childVariables]);
  // Only set for credential plugins, for the watchdog, for containers of a node, and by tests.
  const internal = [
    "KUBERNETES_EXEC_INFO",
    "TENURE_CHILD_MARKER",
    "TENURE_POD_ADDRESS",
    "NODE_OPTIONS",
    "TENURE_TEST",
  ];
  for (const name of internal) known.add(name);
  const used = new Set<string>();
  for (const path of readdirSync(`${root}packages`, { recursive: true, encoding: "utf8" })) {
    if (!/^[a-z]+\/src\/.*\.ts$/.test(path) || path.endsWith(".test.ts") || path.includes("/testing/"))
      continue;
    const text = readFileSync(`${root}packages/${path}`, "utf8");
    for (const [, called, field] of text.matchAll(
      /\benv(?:ironment)?\("([A-Z_]+)"\)|\benv\.([A-Z_]{3,})\b/g,
    )) {
      used.add((called ?? field) as string);
    }
  }
  expect([...used].filter((name) => !known.has(name))).toEqual([]);
  for (const name of childVariables)
    expect(read("environment.md")).toMatch(new RegExp(`\`${name}\` \\| \\S`));
});
