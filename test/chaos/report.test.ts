import { expect, it } from "vitest";
import { good, verdictOf, Worker } from "./history/stories.ts";
import { isGood, summaryOf } from "./report.mjs";

const observed = { faults: {}, orphans: [], growths: [], hasLeader: true };

it("sums up a good run in one line", async () => {
  const verdict = await verdictOf(good());
  expect(summaryOf("kube", verdict, observed)).toBe(
    "kube: 2 terms, 0 overlaps, 0 tokens out of order, 0 stale writes, 0 lost writes, 0 wrong reads, " +
      "0 writes after the end, 0 orphans, 0 leaks, longest gap 0.1 s",
  );
  expect(isGood(verdict, observed)).toBe(true);
});

it("counts violations by their kind, and fails on any", async () => {
  const [a, b] = [new Worker("a", 20), new Worker("b", 10, 2)];
  const verdict = await verdictOf([...a.read(100, 0, ""), ...b.read(150, 0, ""), ...a.read(200, 0, "")]);
  expect(summaryOf("kube", verdict)).toContain("1 overlaps, 1 tokens out of order, 0 stale writes");
  expect(isGood(verdict)).toBe(false);
});

it.each([
  ["an orphan", { orphans: ["7: node"] }],
  ["no leader at the end", { hasLeader: false }],
  [
    "a leak",
    {
      growths: [
        {
          id: "r0-0",
          first: { descriptors: 20, megabytes: 50 },
          last: { descriptors: 99, megabytes: 50 },
          livedSeconds: 60,
        },
      ],
    },
  ],
])("fails on %s, whatever the history shows", async (_what, facts) => {
  expect(isGood(await verdictOf(good()), { ...observed, ...facts })).toBe(false);
});
