import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { metricsCatalogue } from "../../../packages/status/src/metrics/catalogue.ts";

const alerts = readFileSync(new URL("../../../docs/tasks/operate.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^ {4}.*(tenure|leader_election)_/.test(line));

it("every alert in the documentation uses a metric that exists", () => {
  const known: readonly string[] = metricsCatalogue.map(({ name }) => name);
  const used = alerts.map((line) => /(tenure|leader_election)_[a-z_]+/.exec(line)?.[0]);
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((name) => !known.includes(name ?? ""))).toEqual([]);
});

it("no alert merges elections of two namespaces that have the same name", () => {
  const merging = alerts.filter((line) => / by \(/.test(line) && !/ by \([^)]*\bnamespace\b/.test(line));
  expect(merging).toEqual([]);
});
