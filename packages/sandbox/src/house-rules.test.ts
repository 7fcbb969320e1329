import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL(".", import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.startsWith("testing"),
);

const BANNED = [
  /\bDate\.now\(/,
  /\bsetTimeout\(/,
  /\bsetInterval\(/,
  /\bMath\.random\(/,
  /\bprocess\.(exit|env)\b/,
  /performance\.now/,
];

test("time, timers, randomness and the process are taken from the platform only", () => {
  const breaches = sources
    .filter((path) => path !== "platform.ts")
    .filter((path) => BANNED.some((pattern) => pattern.test(readFileSync(root + path, "utf8"))));
  expect(breaches).toEqual([]);
});

test("no file is longer than 300 lines", () => {
  const long = sources.filter((path) => readFileSync(root + path, "utf8").split("\n").length > 300);
  expect(long).toEqual([]);
});

test("every file says at its top what it is for", () => {
  const silent = sources.filter((path) => !readFileSync(root + path, "utf8").startsWith("// "));
  expect(silent).toEqual([]);
});
