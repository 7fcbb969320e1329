/**
 * Plays each history in testdata and compares the output. REWRITE=1 writes the current output into the files.
 * Only commit such a change if you understand what caused it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runHistory } from "../testing/history.ts";

const folder = new URL("../../testdata/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));

describe("histories", () => {
  it.each(names)("%s", (name) => {
    const file = new URL(name, folder);
    const expected = readFileSync(file, "utf8");
    const actual = runHistory(expected);
    if (process.env.REWRITE) writeFileSync(file, actual);
    else expect(actual).toBe(expected);
  });

  it("are all found", () => expect(names.length).toBeGreaterThanOrEqual(20));

  it("each begin with a comment that says what happens", () => {
    for (const name of names) expect(readFileSync(new URL(name, folder), "utf8")).toMatch(/^# [A-Z]/);
  });
});
