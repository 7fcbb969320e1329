/**
 * The histories in testdata, each told to the machine from its beginning. REWRITE=1 writes down what comes out now;
 * only commit such a change if you understand what caused it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runScript } from "./testing/script.ts";

const folder = new URL("../testdata/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));

describe("history", () => {
  it.each(names)("%s", (name) => {
    const file = new URL(name, folder);
    const expected = readFileSync(file, "utf8");
    const actual = runScript(expected);
    if (process.env.REWRITE) writeFileSync(file, actual);
    else expect(actual).toBe(expected);
  });

  it("there are some", () => expect(names.length).toBeGreaterThanOrEqual(15));

  it("each begins with what it tells", () => {
    for (const name of names) expect(readFileSync(new URL(name, folder), "utf8")).toMatch(/^# [A-Z]/);
  });
});
