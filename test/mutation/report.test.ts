import { expect, it } from "vitest";
import { reportOf } from "./report.mjs";

const mutant = (id: number) => ({ id, path: "a.ts", line: id + 1, original: "a <\n  b", mutated: "a <= b" });
const mutants = [0, 1, 2, 3].map(mutant);
const results = new Map<number, object>([
  [0, { status: "killed", killedBy: { file: "a.test.ts", test: "compares" } }],
  [1, { status: "survived" }],
  [2, { status: "not reached" }],
  [3, { status: "timed out" }],
]);
const report = (verbose: boolean) =>
  reportOf({
    name: "core",
    chosen: { mutants, all: [...mutants, mutant(4)] },
    results,
    seconds: 61.4,
    verbose,
  });

it("lists the survivors and sums up", () => {
  const { rate, lines } = report(false);
  expect(rate).toBe(50);
  expect(lines).toEqual([
    "a.ts:2 #1 survived\n  - a < b\n  + a <= b",
    "a.ts:3 #2 not reached\n  - a < b\n  + a <= b",
    "core: 50.0 % of 4 mutants killed (1 survived, 1 not reached, 1 timed out; the package has 5) in 61 s",
  ]);
});

it("lists the other mutants, too, and which test found them", () => {
  expect(report(true).lines[0]).toBe("a.ts:1 #0 killed by a.test.ts: compares\n  - a < b\n  + a <= b");
});
