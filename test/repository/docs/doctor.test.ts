/** docs/tasks/diagnose.md lists what the doctor finds: the faults that test/processes/operate plants. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { faults } from "../../processes/operate/faults.ts";

const page = readFileSync(new URL("../../../docs/tasks/diagnose.md", import.meta.url), "utf8");
const [, section = ""] = /\n## What it finds\n([\s\S]*?)\n## /.exec(page) ?? [];

/** The items of the list under each heading. */
const listed = section
  .split(/^### /m)
  .slice(1)
  .map((part) => {
    const [heading = "", ...lines] = part.split("\n");
    return [heading, lines.filter((line) => line.startsWith("- ")).map((line) => line.slice(2))];
  });

it("the page lists every fault, and no other", () => {
  const planted = Object.entries(faults).map(([heading, table]) => [heading, table.map(({ name }) => name)]);
  expect(listed).toEqual(planted);
});
