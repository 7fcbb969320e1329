import { expect, it } from "vitest";
import { divide, resultsOf } from "./run-specs.mjs";

it("specs that change the whole cluster run alone", () => {
  expect(divide(["a", "b [Serial] c", "d", "e [Disruptive]", "f"], 2)).toEqual({
    together: [["a", "f"], ["d"]],
    alone: ["b [Serial] c", "e [Disruptive]"],
  });
});

const report = (name: string, State: string, more: object = {}) => ({
  ContainerHierarchyTexts: ["[sig-apps] Deployment"],
  LeafNodeText: `${name} [Conformance]`,
  State,
  RunTime: 1_500_000_000,
  ...more,
});

it("reads what passed, what failed and why", () => {
  const Failure = { Message: "it was\n  not so" };
  const reports = [report("works", "passed"), report("breaks", "failed", { Failure })];
  const names = ["[sig-apps] Deployment works", "[sig-apps] Deployment breaks"];
  expect(resultsOf(names, [{ SpecReports: reports }])).toEqual([
    { spec: names[0], outcome: "passed", seconds: 1.5 },
    { spec: names[1], outcome: "failed", seconds: 1.5, reason: "it was not so" },
  ]);
});

it("a spec without a report has failed", () => {
  expect(resultsOf(["x"], undefined)).toMatchObject([{ spec: "x", outcome: "failed" }]);
  expect(resultsOf(["x"], [{ SpecReports: null }])).toMatchObject([{ outcome: "failed" }]);
});

it("if the suite could not start, every spec has failed for its reason", () => {
  const start = report("", "failed", { LeafNodeText: "", Failure: { Message: "no nodes" } });
  const results = resultsOf(["[sig-apps] Deployment x"], [{ SpecReports: [start, report("x", "skipped")] }]);
  expect(results).toMatchObject([{ outcome: "failed", reason: "no nodes" }]);
});
