import { describe, expect, it } from "vitest";
import { agenda, nextWakeMs, type Task } from "./agenda.ts";
import { initialState } from "./step.ts";
import { held, released } from "./testing/records.ts";
import { config } from "./testing/rig.ts";
import type { InFlight, Phase, State, Term } from "./types.ts";

const now = { monoMs: 100_000, wallMs: 900_000 };
const term: Term = { token: 1n, sent: now, acquireTime: "then", leaseTransitions: 0 };
const ending = { term, reason: "step-down", cooldownMs: 0 } as const;
const campaigning: Phase = { name: "campaigning", notBeforeMs: 0, staggerMs: 0 };
const lost: Phase = {
  name: "lost",
  term,
  reason: "renew-deadline",
  cooldownMs: 0,
  valid: true,
  overrun: false,
};
const inFlight: InFlight = { id: 1, kind: "read", timeoutAtMs: 102_500, observations: 0 };
const heldByB: State["lock"] = { kind: "present", view: held(7), sinceMs: 100_000 };
const heard: Partial<State> = { heardAtMs: 100_000, retryAtMs: 100_000 };

type Row = [string, Partial<State>, Partial<Record<Task, number>>];
function entriesOf(state: Partial<State>, at = now): [Task, number][] {
  return agenda(config, { ...initialState, ...state }, at).map(({ task, atMs }) => [task, atMs]);
}

describe("agenda", () => {
  it.each<Row>([
    ["nothing while idle", { phase: { name: "idle" } }, {}],
    ["a read at once while the lock is unknown", { phase: campaigning }, { read: Number.NEGATIVE_INFINITY }],
    ["a read when it was put off", { phase: campaigning, retryAtMs: 101_000 }, { read: 101_000 }],
    [
      "only a read after a conflict, whatever is known",
      { phase: campaigning, ...heard, lock: heldByB, mustRead: true },
      { read: 100_000 },
    ],
    [
      "the holder's expiry, and a read every retryPeriod without a watch",
      { phase: campaigning, ...heard, lock: heldByB },
      { acquire: 115_000, read: 102_000 },
    ],
    [
      "the holder's expiry, and a suspicion after a third of its lease with a watch",
      { phase: campaigning, ...heard, lock: heldByB, watchUp: true },
      { acquire: 115_000, read: 105_000 },
    ],
    [
      "a suspicion by the lease that the holder wrote, not by our own",
      {
        phase: campaigning,
        ...heard,
        watchUp: true,
        lock: { ...heldByB, view: held(7, "b", { leaseDurationSeconds: 60 }) },
      },
      { acquire: 160_000, read: 120_000 },
    ],
    [
      "a suspicion never sooner than retryPeriod",
      {
        phase: campaigning,
        ...heard,
        watchUp: true,
        lock: { ...heldByB, view: held(7, "b", { leaseDurationSeconds: 3 }) },
      },
      { acquire: 103_000, read: 102_000 },
    ],
    [
      "a suspicion by our own lease where nobody holds the lock",
      {
        phase: { ...campaigning, notBeforeMs: 130_000 },
        ...heard,
        watchUp: true,
        lock: { kind: "present", view: released(7), sinceMs: 0 },
      },
      { acquire: 130_000, read: 105_000 },
    ],
    [
      "a suspicion by our own lease where there is no lock",
      {
        phase: campaigning,
        ...heard,
        watchUp: true,
        lock: { kind: "absent", sinceMs: 0 },
        vanishedHolderUntilMs: 111_000,
      },
      { acquire: 111_000, read: 105_000 },
    ],
    [
      "the expiry with this candidate's own stagger",
      { phase: { ...campaigning, staggerMs: 7 }, ...heard, lock: heldByB },
      { acquire: 115_007, read: 102_000 },
    ],
    [
      "not before the cool-down is over",
      { phase: { ...campaigning, notBeforeMs: 120_000 }, ...heard, lock: heldByB },
      { acquire: 120_000, read: 102_000 },
    ],
    [
      "not before the back-off is over",
      { phase: campaigning, ...heard, lock: heldByB, retryAtMs: 121_000 },
      { acquire: 121_000, read: 121_000 },
    ],
    [
      "nothing but the timeout while a request is in flight",
      { phase: campaigning, ...heard, lock: heldByB, inFlight },
      { abandon: 102_500 },
    ],
    [
      "leaving at once when asked to stop",
      { phase: campaigning, stopping: true, lock: heldByB },
      { leave: 100_000 },
    ],
    [
      "not leaving while a write may be winning the lock",
      { phase: campaigning, stopping: true, lock: heldByB, inFlight },
      { abandon: 102_500 },
    ],
    [
      "the soft end and the next renewal while leading",
      { phase: { name: "leading", term }, ...heard },
      { "soft-end": 110_000, renew: 103_000 },
    ],
    [
      "the same while the work drains: renewing goes on",
      { phase: { name: "draining", ...ending }, ...heard },
      { "soft-end": 110_000, renew: 103_000 },
    ],
    [
      "a renewal when it was put off",
      { phase: { name: "leading", term }, ...heard, retryAtMs: 104_000 },
      { "soft-end": 110_000, renew: 104_000 },
    ],
    [
      "a read instead of a renewal after a conflict",
      { phase: { name: "leading", term }, mustRead: true, retryAtMs: 100_100 },
      { "soft-end": 110_000, read: 100_100 },
    ],
    [
      "the soft end also while a request is in flight",
      { phase: { name: "leading", term }, inFlight },
      { "soft-end": 110_000, abandon: 102_500 },
    ],
    [
      "only the hard deadline of a lost term: nothing is written",
      { phase: lost, ...heard },
      { overrun: 114_750 },
    ],
    ["nothing after the hard deadline was announced", { phase: { ...lost, overrun: true } }, {}],
    [
      "the release at once, and giving up at the hard deadline",
      { phase: { name: "releasing", ...ending, wasStarted: true }, ...heard },
      { keep: 114_750, release: 100_000 },
    ],
    [
      "a release when it was put off",
      { phase: { name: "releasing", ...ending, wasStarted: true }, retryAtMs: 100_300 },
      { keep: 114_750, release: 100_300 },
    ],
    [
      "a read before the release after a conflict",
      { phase: { name: "releasing", ...ending, wasStarted: true }, ...heard, mustRead: true },
      { keep: 114_750, read: 100_000 },
    ],
    [
      "giving the release up also while a request is in flight",
      { phase: { name: "releasing", ...ending, wasStarted: true }, inFlight },
      { keep: 114_750, abandon: 102_500 },
    ],
  ])("has %s", (_what, state, entries) => {
    expect(entriesOf(state)).toEqual(Object.entries(entries));
  });

  it("puts what ends a right before what uses it, when both are due", () => {
    const late = { monoMs: now.monoMs + 20_000, wallMs: now.wallMs + 20_000 };
    expect(entriesOf({ phase: { name: "leading", term } }, late)[0]).toEqual(["soft-end", 110_000]);
    expect(entriesOf({ phase: { name: "releasing", ...ending, wasStarted: true } }, late)[0]).toEqual([
      "keep",
      114_750,
    ]);
    expect(entriesOf({ phase: { name: "leading", term }, inFlight }, late)[0]).toEqual(["soft-end", 110_000]);
  });

  it("counts a right by whichever clock shows more: a suspension brings every end of it nearer", () => {
    const suspended = { monoMs: now.monoMs, wallMs: now.wallMs + 4_000 };
    expect(entriesOf({ phase: { name: "leading", term }, ...heard }, suspended)[0]).toEqual([
      "soft-end",
      106_000,
    ]);
    expect(entriesOf({ phase: lost }, suspended)).toEqual([["overrun", 110_750]]);
    expect(entriesOf({ phase: { name: "releasing", ...ending, wasStarted: true } }, suspended)[0]).toEqual([
      "keep",
      110_750,
    ]);
  });

  it("does not let a suspension shorten a wait for somebody else", () => {
    const suspended = { monoMs: now.monoMs, wallMs: now.wallMs + 4_000 };
    expect(entriesOf({ phase: campaigning, ...heard, lock: heldByB }, suspended)[0]).toEqual([
      "acquire",
      115_000,
    ]);
  });
});

describe("nextWakeMs", () => {
  it("is the earliest entry", () => {
    expect(nextWakeMs(config, { ...initialState, phase: { name: "leading", term }, ...heard }, now)).toBe(
      103_000,
    );
  });
  it("is never when there is nothing to do", () => {
    expect(nextWakeMs(config, initialState, now)).toBe(Number.POSITIVE_INFINITY);
  });
});
