import type { Instant } from "@tenure/base";
import { describe, expect, it } from "vitest";
import {
  heldUntilMs,
  isAskedToTakeOver,
  isBefore,
  isOrderedToStepDown,
  leaderAt,
  leaseDurationMs,
  mayAcquireAtMs,
  ownWriteOf,
  termOf,
  validUntil,
} from "./queries.ts";
import type { LockView, Orders } from "./record.ts";
import { initialState } from "./step.ts";
import { held, record, released, view } from "./testing/records.ts";
import { config, leading, TestCandidate, waiting } from "./testing/test-candidate.ts";
import type { Phase, State, Term } from "./types.ts";

const sent = { monoMs: 1_000, wallMs: 51_000 };
const term: Term = { token: 1n, sent, acquireTime: "then", leaseTransitions: 0 };
const after = (ms: number) => ({ monoMs: 1_000 + ms, wallMs: 51_000 + ms });
const ending = { term, reason: "step-down", cooldownMs: 0, untilMs: Number.POSITIVE_INFINITY } as const;
const lost = {
  name: "lost",
  term,
  reason: "renew-deadline",
  cooldownMs: 0,
  valid: true,
  overrun: false,
} as const;
const inPhase = (phase: Phase): State => ({ ...initialState, phase });

describe("validUntil with isBefore", () => {
  const mayWork = (state: State, at: Instant) => isBefore(at, validUntil(config, state));

  it.each<[string, Phase, boolean]>([
    ["allows a leader", { name: "leading", term }, true],
    ["allows a leader that was told to stop", { name: "draining", ...ending }, true],
    ["allows a term that could not be renewed, until its hard deadline", lost, true],
    ["forbids a term if another leader may be working", { ...lost, valid: false }, false],
    ["forbids a term whose work has stopped", { name: "releasing", ...ending, wasStarted: true }, false],
    ["forbids a candidate", { name: "campaigning", notBeforeMs: 0, staggerMs: 0 }, false],
    ["forbids an idle candidate", { name: "idle" }, false],
  ])("%s", (_who, phase, may) => expect(mayWork(inPhase(phase), after(0))).toBe(may));

  it.each([
    ["until just before the hard deadline", after(14_749), true],
    ["not at the hard deadline", after(14_750), false],
    ["not after it", after(60_000), false],
    ["not when only the wall clock has reached it", { monoMs: 1_001, wallMs: 65_750 }, false],
    ["until the hard deadline even if the wall clock was set back", { monoMs: 15_749, wallMs: 0 }, true],
  ])("depends on the clock: %s", (_when, at, may) => {
    for (const phase of [{ name: "leading", term }, { name: "draining", ...ending }, lost] as const) {
      expect(mayWork(inPhase(phase), at)).toBe(may);
    }
  });
});

describe("validUntil", () => {
  it("is the hard deadline by both clocks, counted from when the write was sent", () => {
    expect(validUntil(config, inPhase({ name: "leading", term }))).toEqual({
      monoMs: 15_750,
      wallMs: 65_750,
    });
  });
  it("is undefined when the work may not run at all", () => {
    expect(validUntil(config, inPhase({ ...lost, valid: false }))).toBeUndefined();
    expect(validUntil(config, inPhase({ name: "releasing", ...ending, wasStarted: true }))).toBeUndefined();
    expect(validUntil(config, initialState)).toBeUndefined();
  });
});

describe("isBefore", () => {
  const end = { monoMs: 10, wallMs: 100 };
  it.each([
    ["true before the end by both clocks", { monoMs: 9, wallMs: 99 }, end, true],
    ["false at the end by the monotonic clock", { monoMs: 10, wallMs: 99 }, end, false],
    ["false at the end by the wall clock", { monoMs: 9, wallMs: 100 }, end, false],
    ["false if there is no end", { monoMs: 0, wallMs: 0 }, undefined, false],
  ])("%s", (_when, at, until, is) => expect(isBefore(at, until)).toBe(is));
});

describe("termOf", () => {
  it.each<[string, Phase, boolean]>([
    ["is the term of a leader", { name: "leading", term }, true],
    ["is a term that is ending", { name: "draining", ...ending }, true],
    ["is a lost term, until its work has stopped", lost, true],
    ["is undefined once the work has stopped", { name: "releasing", ...ending, wasStarted: true }, false],
    ["is undefined for a candidate", { name: "campaigning", notBeforeMs: 0, staggerMs: 0 }, false],
    ["is undefined for an idle candidate", { name: "idle" }, false],
  ])("%s", (_which, phase, is) => expect(termOf(inPhase(phase))).toBe(is ? term : undefined));
});

describe("leaderAt", () => {
  it("is this candidate until its lease expires, even while it releases the lock", () => {
    for (const phase of [
      { name: "leading", term },
      { name: "draining", ...ending },
      { name: "releasing", ...ending, wasStarted: true },
    ] as const) {
      expect(leaderAt(config, inPhase(phase), after(14_999))).toBe("a");
      expect(leaderAt(config, inPhase(phase), after(15_000))).toBeUndefined();
    }
  });

  it("is the holder until the lease that it wrote expires", () => {
    const candidate = waiting(held(7, "b", { leaseDurationSeconds: 30 }));
    candidate.freeze(29_999);
    expect(candidate.leader).toBe("b");
    candidate.freeze(1);
    expect(candidate.leader).toBeUndefined();
  });

  it("is nobody when the lock is released, absent or unknown", () => {
    expect(new TestCandidate().leader).toBeUndefined();
    const candidate = new TestCandidate();
    candidate.start();
    expect(candidate.leader).toBeUndefined();
    candidate.absent();
    expect(candidate.leader).toBeUndefined();
    expect(waiting(released(7)).leader).toBeUndefined();
  });

  it("is nobody after this candidate lost its term, although the lock still names it", () => {
    const candidate = leading();
    candidate.freeze(10_000);
    candidate.tick();
    expect(candidate.phase).toBe("lost");
    expect(candidate.leader).toBeUndefined();
  });

  it("is the new holder while the work of the lost term is still stopping", () => {
    const candidate = leading();
    candidate.observed(held(2, "b"));
    expect(candidate.phase).toBe("lost");
    expect(candidate.leader).toBe("b");
  });

  it("is another process with the same identity if this process did not write the record", () => {
    expect(waiting(held(7, "a")).leader).toBe("a");
  });
});

describe("leaseDurationMs", () => {
  it.each([
    ["the duration that the holder wrote", 30, 30_000],
    ["the duration that the holder wrote if it is shorter than our own", 1, 1_000],
    ["our own if the record has none", undefined, 15_000],
    ["our own if the record has 0", 0, 15_000],
    ["our own if the record has a negative one", -5, 15_000],
    ["our own if the record has NaN", Number.NaN, 15_000],
  ])("is %s", (_what, leaseDurationSeconds, ms) => {
    expect(leaseDurationMs(config, record({ leaseDurationSeconds }))).toBe(ms);
  });
});

describe("heldUntilMs", () => {
  it("counts from when this version was seen, by our own clock", () => {
    expect(heldUntilMs(config, { kind: "present", view: held(7), sinceMs: 4_000 })).toBe(19_000);
  });
});

describe("ownWriteOf", () => {
  const ownWrites = [1, 2].map((n) => ({
    record: record({ holderIdentity: "a", renewTime: `t${n}` }),
    purpose: "renew" as const,
    sent,
    campaign: n,
  }));
  it("is the write of this process with the same record", () => {
    expect(ownWriteOf({ ...initialState, ownWrites }, record({ holderIdentity: "a", renewTime: "t2" }))).toBe(
      ownWrites[1],
    );
  });
  it("is undefined for a record with the same identity that this process did not write", () => {
    expect(
      ownWriteOf({ ...initialState, ownWrites }, record({ holderIdentity: "a", renewTime: "t3" })),
    ).toBeUndefined();
  });
});

describe("mayAcquireAtMs", () => {
  const present = (of: ReturnType<typeof view>): State["lock"] => ({
    kind: "present",
    view: of,
    sinceMs: 4_000,
  });
  const own = { record: record({ holderIdentity: "a" }), purpose: "renew" as const, sent, campaign: 1 };
  it.each<[string, Partial<State>, number | undefined]>([
    ["is undefined while the lock is unknown", {}, undefined],
    ["is when the lock was seen to be absent", { lock: { kind: "absent", sinceMs: 4_000 } }, 4_000],
    ["is when the lock was seen released", { lock: present(released(7)) }, 4_000],
    [
      "is after the duration in a lock that was emptied by hand",
      { lock: present(view(7, record({ holderIdentity: "" }))) },
      19_000,
    ],
    ["is after the holder's lease", { lock: present(held(7)) }, 19_000],
    ["is after the holder's lease even if it has our identity", { lock: present(held(7, "a")) }, 19_000],
    [
      "is when a record of this process was seen",
      { lock: present(view(7, own.record)), ownWrites: [own] },
      4_000,
    ],
    [
      "is not before the end of a vanished holder: absent",
      { lock: { kind: "absent", sinceMs: 4_000 }, vanishedHolderUntilMs: 17_000 },
      17_000,
    ],
    [
      "is not before the end of a vanished holder: released",
      { lock: present(released(7)), vanishedHolderUntilMs: 17_000 },
      17_000,
    ],
    [
      "is not before the end of a vanished holder: our own",
      { lock: present(view(7, own.record)), ownWrites: [own], vanishedHolderUntilMs: 17_000 },
      17_000,
    ],
    [
      "is not before the end of a vanished holder: held by another",
      { lock: present(held(7)), vanishedHolderUntilMs: 30_000 },
      30_000,
    ],
  ])("%s", (_when, state, atMs) => expect(mayAcquireAtMs(config, { ...initialState, ...state })).toBe(atMs));

  it.each<[string, State["lock"], number]>([
    ["absent", { kind: "absent", sinceMs: 4_000 }, 4_000],
    ["released", present(released(7)), 4_000],
    ["held by another", present(held(7)), 19_000],
  ])("is later by the delay of a low priority: %s", (_when, lock, atMs) => {
    const state = { ...initialState, lock };
    expect(mayAcquireAtMs({ ...config, acquireDelayMs: 600 }, state)).toBe(atMs + 600);
    expect(mayAcquireAtMs({ ...config, acquireDelayMs: Number.POSITIVE_INFINITY }, state)).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it.each<[string, Orders, number]>([
    [
      "the transfer to it, which it accepted",
      { transfer: { transitions: 0, to: "a", accepted: true } },
      4_000,
    ],
    [
      "a transfer to it that it has not accepted",
      { transfer: { transitions: 0, to: "a" } },
      Number.POSITIVE_INFINITY,
    ],
    [
      "a transfer to it from an earlier leader",
      { transfer: { transitions: 9, to: "a", accepted: true } },
      Number.POSITIVE_INFINITY,
    ],
    [
      "a transfer to another candidate",
      { transfer: { transitions: 0, to: "b", accepted: true } },
      Number.POSITIVE_INFINITY,
    ],
    ["no transfer", {}, Number.POSITIVE_INFINITY],
  ])("for a candidate that does not fail over, with %s", (_which, orders, atMs) => {
    const chosen = { ...config, acquireDelayMs: Number.POSITIVE_INFINITY };
    const state = { ...initialState, lock: present({ ...released(7), orders }) };
    expect(mayAcquireAtMs(chosen, state)).toBe(atMs);
  });

  it("is one leaseDuration after the lock was seen to be absent, with waitWhenAbsent", () => {
    const careful = { ...config, waitWhenAbsent: true };
    expect(mayAcquireAtMs(careful, { ...initialState, lock: { kind: "absent", sinceMs: 4_000 } })).toBe(
      19_000,
    );
    expect(
      mayAcquireAtMs(careful, {
        ...initialState,
        lock: { kind: "absent", sinceMs: 4_000 },
        vanishedHolderUntilMs: 30_000,
      }),
    ).toBe(30_000);
  });
});

describe("a transfer that nobody has accepted", () => {
  const transfer = { transitions: 3, to: "typo" };
  const withTransfer = (orders: Orders, of = held(7, "b", { leaseTransitions: 3 })) => ({ ...of, orders });
  it("does not make the leader step down, nor anybody wait", () => {
    expect(isOrderedToStepDown(config, withTransfer({ transfer }))).toBe(false);
    const free = withTransfer({ transfer }, released(7, { leaseTransitions: 3 }));
    const lock: State["lock"] = { kind: "present", view: free, sinceMs: 4_000 };
    expect(mayAcquireAtMs(config, { ...initialState, lock })).toBe(4_000);
  });
  it("makes a former leader that could not release the lock wait until the chosen candidate had its turn", () => {
    const orders = { transfer: { ...transfer, accepted: true } };
    const own = record({ holderIdentity: "a", leaseTransitions: 3 });
    const lock: State["lock"] = { kind: "present", view: { ...view(7, own), orders }, sinceMs: 4_000 };
    const ownWrites = [{ record: own, purpose: "renew" as const, sent, campaign: 1 }];
    expect(mayAcquireAtMs(config, { ...initialState, lock, ownWrites })).toBe(4_000 + 2 * 15_000);
  });
  it("does both once it is accepted", () => {
    const orders = { transfer: { ...transfer, accepted: true } };
    expect(isOrderedToStepDown(config, withTransfer(orders))).toBe(true);
    const free = withTransfer(orders, released(7, { leaseTransitions: 3 }));
    const lock: State["lock"] = { kind: "present", view: free, sinceMs: 4_000 };
    expect(mayAcquireAtMs(config, { ...initialState, lock })).toBe(19_000);
  });
});

describe("isAskedToTakeOver", () => {
  const transfer = { transitions: 3, to: "a" };
  const by = (holder: string, orders: Orders) => ({ ...held(7, holder, { leaseTransitions: 3 }), orders });
  it.each<[boolean, string, LockView]>([
    [true, "a transfer from another leader to this candidate", by("b", { transfer })],
    [true, "the same with an order to step down", by("b", { transfer, stepDown: 3 })],
    [false, "a transfer to another candidate", by("b", { transfer: { ...transfer, to: "c" } })],
    [false, "a transfer from an earlier leader", by("b", { transfer: { ...transfer, transitions: 2 } })],
    [false, "a transfer that it has accepted", by("b", { transfer: { ...transfer, accepted: true } })],
    [false, "a transfer of a paused election", by("b", { transfer, paused: true })],
    [false, "a transfer from itself", by("a", { transfer })],
    [false, "a transfer of a free lock", by("", { transfer })],
    [false, "no orders", held(7)],
  ])("is %s for %s", (expected, _what, view) => expect(isAskedToTakeOver(config, view)).toBe(expected));
});
