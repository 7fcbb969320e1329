import { describe, expect, it } from "vitest";
import {
  attemptOf,
  durationMs,
  heldUntilMs,
  isBefore,
  leaderAt,
  mayTakeAtMs,
  mayWork,
  termOf,
  validUntil,
} from "./queries.ts";
import { initialState } from "./step.ts";
import { held, record, released, view } from "./testing/records.ts";
import { config, leading, Rig, waiting } from "./testing/rig.ts";
import type { Phase, State, Term } from "./types.ts";

const sent = { monoMs: 1_000, wallMs: 51_000 };
const term: Term = { token: 1n, sent, acquireTime: "then", leaseTransitions: 0 };
const after = (ms: number) => ({ monoMs: 1_000 + ms, wallMs: 51_000 + ms });
const ending = { term, reason: "step-down", cooldownMs: 0 } as const;
const lost = {
  name: "lost",
  term,
  reason: "renew-deadline",
  cooldownMs: 0,
  valid: true,
  overrun: false,
} as const;
const inPhase = (phase: Phase): State => ({ ...initialState, phase });

describe("mayWork", () => {
  it.each<[string, Phase, boolean]>([
    ["a leader may", { name: "leading", term }, true],
    ["a leader that was asked to stop still may", { name: "draining", ...ending }, true],
    ["a term that could not be renewed may until its hard deadline", lost, true],
    ["a term that somebody else may have taken may not", { ...lost, valid: false }, false],
    ["a term whose work has stopped may not", { name: "releasing", ...ending, wasStarted: true }, false],
    ["a candidate may not", { name: "campaigning", notBeforeMs: 0, staggerMs: 0 }, false],
    ["who does not take part may not", { name: "idle" }, false],
  ])("%s", (_who, phase, may) => expect(mayWork(config, inPhase(phase), after(0))).toBe(may));

  it.each([
    ["until just before the hard deadline", after(14_749), true],
    ["not at the hard deadline", after(14_750), false],
    ["not after it", after(60_000), false],
    ["not when only the wall clock shows that it has passed", { monoMs: 1_001, wallMs: 65_750 }, false],
    ["whatever the wall clock says when it was set back", { monoMs: 15_749, wallMs: 0 }, true],
  ])("asks the clock: %s", (_when, at, may) => {
    for (const phase of [{ name: "leading", term }, { name: "draining", ...ending }, lost] as const) {
      expect(mayWork(config, inPhase(phase), at)).toBe(may);
    }
  });
});

describe("validUntil", () => {
  it("is the hard deadline by both clocks, counted from the sending", () => {
    expect(validUntil(config, inPhase({ name: "leading", term }))).toEqual({
      monoMs: 15_750,
      wallMs: 65_750,
    });
  });
  it("is nothing when the work may not run at all", () => {
    expect(validUntil(config, inPhase({ ...lost, valid: false }))).toBeUndefined();
    expect(validUntil(config, inPhase({ name: "releasing", ...ending, wasStarted: true }))).toBeUndefined();
    expect(validUntil(config, initialState)).toBeUndefined();
  });
});

describe("isBefore", () => {
  const end = { monoMs: 10, wallMs: 100 };
  it.each([
    ["before it by both clocks", { monoMs: 9, wallMs: 99 }, end, true],
    ["at it by the monotonic clock", { monoMs: 10, wallMs: 99 }, end, false],
    ["at it by the wall clock", { monoMs: 9, wallMs: 100 }, end, false],
    ["when there is none", { monoMs: 0, wallMs: 0 }, undefined, false],
  ])("%s", (_when, at, until, is) => expect(isBefore(at, until)).toBe(is));
});

describe("termOf", () => {
  it.each<[string, Phase, boolean]>([
    ["a leader's", { name: "leading", term }, true],
    ["one that is ending", { name: "draining", ...ending }, true],
    ["a lost one, until its work has stopped", lost, true],
    ["none once the work has stopped", { name: "releasing", ...ending, wasStarted: true }, false],
    ["none of a candidate", { name: "campaigning", notBeforeMs: 0, staggerMs: 0 }, false],
    ["none of who does not take part", { name: "idle" }, false],
  ])("%s", (_which, phase, is) => expect(termOf(inPhase(phase))).toBe(is ? term : undefined));
});

describe("leaderAt", () => {
  it("is this candidate while its lease lasts, also while it lets go", () => {
    for (const phase of [
      { name: "leading", term },
      { name: "draining", ...ending },
      { name: "releasing", ...ending, wasStarted: true },
    ] as const) {
      expect(leaderAt(config, inPhase(phase), after(14_999))).toBe("a");
      expect(leaderAt(config, inPhase(phase), after(15_000))).toBeUndefined();
    }
  });

  it("is the holder until its written time is over", () => {
    const rig = waiting(held(7, "b", { leaseDurationSeconds: 30 }));
    rig.freeze(29_999);
    expect(rig.leader).toBe("b");
    rig.freeze(1);
    expect(rig.leader).toBeUndefined();
  });

  it("is nobody when the lock is released, absent or unknown", () => {
    expect(new Rig().leader).toBeUndefined();
    const rig = new Rig();
    rig.start();
    expect(rig.leader).toBeUndefined();
    rig.absent();
    expect(rig.leader).toBeUndefined();
    expect(waiting(released(7)).leader).toBeUndefined();
  });

  it("is nobody after this candidate lost, though the lock still names it", () => {
    const rig = leading();
    rig.freeze(10_000);
    rig.tick();
    expect(rig.phase).toBe("lost");
    expect(rig.leader).toBeUndefined();
  });

  it("is the other holder while the lost work is still stopping", () => {
    const rig = leading();
    rig.observed(held(2, "b"));
    expect(rig.phase).toBe("lost");
    expect(rig.leader).toBe("b");
  });

  it("is a twin by the same name, when it was not this process that wrote it", () => {
    expect(waiting(held(7, "a")).leader).toBe("a");
  });
});

describe("durationMs", () => {
  it.each([
    ["what the holder wrote", 30, 30_000],
    ["also when that is shorter than our own", 1, 1_000],
    ["our own when it wrote nothing", undefined, 15_000],
    ["our own when it wrote 0, which nobody can mean", 0, 15_000],
    ["our own when it wrote less than nothing", -5, 15_000],
    ["our own when what it wrote is no number", Number.NaN, 15_000],
  ])("is %s", (_what, leaseDurationSeconds, ms) => {
    expect(durationMs(config, record({ leaseDurationSeconds }))).toBe(ms);
  });
});

describe("heldUntilMs", () => {
  it("counts from when this version was learned of, by our own clock", () => {
    expect(heldUntilMs(config, { kind: "present", view: held(7), sinceMs: 4_000 })).toBe(19_000);
  });
});

describe("attemptOf", () => {
  const attempts = [1, 2].map((n) => ({
    record: record({ holderIdentity: "a", renewTime: `t${n}` }),
    purpose: "renew" as const,
    sent,
    campaign: n,
  }));
  it("is the write of this process with that very record", () => {
    expect(attemptOf({ ...initialState, attempts }, record({ holderIdentity: "a", renewTime: "t2" }))).toBe(
      attempts[1],
    );
  });
  it("is none for a record with the same name that this process did not write", () => {
    expect(
      attemptOf({ ...initialState, attempts }, record({ holderIdentity: "a", renewTime: "t3" })),
    ).toBeUndefined();
  });
});

describe("mayTakeAtMs", () => {
  const present = (of: ReturnType<typeof view>): State["lock"] => ({
    kind: "present",
    view: of,
    sinceMs: 4_000,
  });
  const own = { record: record({ holderIdentity: "a" }), purpose: "renew" as const, sent, campaign: 1 };
  it.each<[string, Partial<State>, number | undefined]>([
    ["not while the lock is unknown", {}, undefined],
    ["from when it was seen that there is none", { lock: { kind: "absent", sinceMs: 4_000 } }, 4_000],
    ["from when it was seen released", { lock: present(released(7)) }, 4_000],
    [
      "after the time that stands in a lock that was emptied by hand",
      { lock: present(view(7, record({ holderIdentity: "" }))) },
      19_000,
    ],
    ["after the holder's time", { lock: present(held(7)) }, 19_000],
    ["after the holder's time also when it has our name", { lock: present(held(7, "a")) }, 19_000],
    [
      "from when it was seen that this process wrote it",
      { lock: present(view(7, own.record)), attempts: [own] },
      4_000,
    ],
    [
      "not before a vanished holder's time: absent",
      { lock: { kind: "absent", sinceMs: 4_000 }, vanishedHolderUntilMs: 17_000 },
      17_000,
    ],
    [
      "not before a vanished holder's time: released",
      { lock: present(released(7)), vanishedHolderUntilMs: 17_000 },
      17_000,
    ],
    [
      "not before a vanished holder's time: our own",
      { lock: present(view(7, own.record)), attempts: [own], vanishedHolderUntilMs: 17_000 },
      17_000,
    ],
    [
      "not before a vanished holder's time: held by another",
      { lock: present(held(7)), vanishedHolderUntilMs: 30_000 },
      30_000,
    ],
  ])("%s", (_when, state, atMs) => expect(mayTakeAtMs(config, { ...initialState, ...state })).toBe(atMs));

  it("one leaseDuration after the absence was learned of, by option", () => {
    const careful = { ...config, waitWhenAbsent: true };
    expect(mayTakeAtMs(careful, { ...initialState, lock: { kind: "absent", sinceMs: 4_000 } })).toBe(19_000);
    expect(
      mayTakeAtMs(careful, {
        ...initialState,
        lock: { kind: "absent", sinceMs: 4_000 },
        vanishedHolderUntilMs: 30_000,
      }),
    ).toBe(30_000);
  });
});
