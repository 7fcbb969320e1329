import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { metricsCatalogue } from "./catalogue.ts";

it("is what the README says, line by line", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const said = [...readme.matchAll(/^\| `((?:tenure|leader)_[a-z_]+)` \| (\w+) \| (.*) \|$/gm)].map(
    ([, name, type, help]) => ({ name, type, help }),
  );
  expect(said).toEqual(metricsCatalogue.map(({ name, type, help }) => ({ name, type, help })));
});
