import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { allBugs, builtFile, packages, plant } from "./copy-packages.ts";

// The simulation takes minutes to try all bugs. This shows at once that a change of the code has lost one.
describe("every bug can be planted into the built code", () => {
  it.each(Object.entries(allBugs))("%s", (_name, { edits }) => {
    for (const edit of edits) {
      const text = readFileSync(builtFile(packages, edit.file), "utf8");
      expect(plant(text, edit)).not.toBe(text);
    }
  });
});
