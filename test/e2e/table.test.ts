import { expect, it } from "vitest";
import { table } from "./table.mjs";

it("prints each spec with its result, and reasons below", () => {
  const results = [
    { spec: "a", outcome: "passed" as const, seconds: 1.25 },
    { spec: "b", outcome: "failed" as const, seconds: 60, reason: "timed out" },
  ];
  expect(table("tenure, api", results, { c: "needs a container" }).split("\n")).toEqual([
    "",
    "tenure, api: 1 of 2 passed, 1 not run",
    "result  seconds spec",
    "passed     1.3 a",
    "failed    60.0 b",
    "                timed out",
    "not run        c",
    "                needs a container",
  ]);
});
