import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { metricsCatalogue } from "./catalogue.ts";

it("matches the README line by line", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const listed = [...readme.matchAll(/^\| `((?:tenure|leader)_[a-z_]+)` \| (\w+) \| (.*) \|$/gm)].map(
    ([, name, type, help]) => ({ name, type, help }),
  );
  expect(listed).toEqual(metricsCatalogue.map(({ name, type, help }) => ({ name, type, help })));
});
