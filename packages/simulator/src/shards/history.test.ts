/**
 * Plays each history in testdata/shards and compares the output. REWRITE=1 writes the current output into the files.
 * Only commit such a change if you understand what caused it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runSetHistory } from "./history.ts";

const folder = new URL("../../testdata/shards/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));

describe("histories of sets of shards", () => {
  it.each(names)("%s", async (name) => {
    const file = new URL(name, folder);
    const expected = readFileSync(file, "utf8");
    const actual = await runSetHistory(expected);
    expect(actual).not.toContain("VIOLATION");
    if (process.env.REWRITE) writeFileSync(file, actual);
    else expect(actual).toBe(expected);
  });

  it("are all found", () => expect(names.length).toBeGreaterThanOrEqual(12));
});
