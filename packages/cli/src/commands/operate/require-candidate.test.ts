import { describe, expect, it } from "vitest";
import type { Candidate } from "../../elections/candidates.ts";
import { absenceOf } from "./require-candidate.ts";

const candidate = (identity: string, isPresent = true): Candidate => ({
  identity,
  isPresent,
  standing: "waiting",
  reason: "pod-a leads",
  seenMs: 300_000,
});

describe("absenceOf", () => {
  it.each<[string, string, Candidate[], string | undefined]>([
    ["a candidate that is there", "pod-b", [candidate("pod-b")], undefined],
    ["any name if no candidate shows itself", "pod-b", [], undefined],
    [
      "a misspelt name",
      "pod-bb",
      [candidate("pod-b"), candidate("other-pod")],
      'no candidate is named "pod-bb", but one is named "pod-b"',
    ],
    [
      "another name",
      "typo",
      [candidate("billing-1"), candidate("billing-2")],
      'no candidate is named "typo". Candidates: billing-1, billing-2',
    ],
    [
      "a candidate that is gone",
      "pod-b",
      [candidate("pod-b", false)],
      '"pod-b" was last seen 5m ago and counts as gone',
    ],
    [
      "a name where all others are gone",
      "typo",
      [candidate("pod-b", false)],
      'no candidate is named "typo", and no other is present',
    ],
  ])("of %s", (_, to, candidates, expected) => expect(absenceOf(to, candidates)).toBe(expected));
});
