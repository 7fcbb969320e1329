import { describe, expect, it } from "vitest";
import { agenda, nextWakeMs, type Task } from "./agenda.ts";
import { initialState } from "./step.ts";
import { held, released } from "./testing/records.ts";
import { config } from "./testing/test-candidate.ts";
import { resolveTimings } from "./timings.ts";
import type { InFlight, Phase, State, Term } from "./types.ts";

const now = { monoMs: 100_000, wallMs: 900_000 };
const term: Term = { token: 1n, sent: now, acquireTime: "then", leaseTransitions: 0 };
const ending = { term, reason: "step-down", cooldownMs: 0, untilMs: Number.POSITIVE_INFINITY } as const;
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
const asked: State["lock"] = {
  kind: "present",
  view: { ...held(7), orders: { transfer: { transitions: 0, to: "a" } } },
  sinceMs: 100_000,
};
const inContact: Partial<State> = { lastContactMs: 100_000, retryAtMs: 100_000 };

type Row = [string, Partial<State>, Partial<Record<Task, number>>];
function entriesOf(state: Partial<State>, at = now): [Task, number][] {
  return agenda(config, { ...initialState, ...state }, at).map(({ task, atMs }) => [task, atMs]);
}

describe("agenda", () => {
  it.each<Row>([
    ["nothing while idle", { phase: { name: "idle" } }, {}],
    ["a read at once while the lock is unknown", { phase: campaigning }, { read: Number.NEGATIVE_INFINITY }],
    ["a read after the back-off", { phase: campaigning, retryAtMs: 101_000 }, { read: 101_000 }],
    [
      "only a read after a conflict, whatever the known state",
      { phase: campaigning, ...inContact, lock: heldByB, mustRead: true },
      { read: 100_000 },
    ],
    [
      "an acceptance at once if it is asked to take over",
      { phase: campaigning, ...inContact, lock: asked },
      { accept: 100_000, acquire: 115_000, read: 102_000 },
    ],
    [
      "an acceptance once it could lead itself: after its cooldown, the back-off and the lease of a vanished holder",
      {
        phase: { ...campaigning, notBeforeMs: 101_000 },
        ...inContact,
        lock: asked,
        vanishedHolderUntilMs: 103_000,
      },
      { accept: 103_000, acquire: 115_000, read: 102_000 },
    ],
    [
      "no acceptance if it could not lead before the holder's lease expires",
      { phase: { ...campaigning, notBeforeMs: 116_000 }, ...inContact, lock: asked },
      { acquire: 116_000, read: 102_000 },
    ],
    [
      "the holder's expiry, and a read every retryPeriod without a watch",
      { phase: campaigning, ...inContact, lock: heldByB },
      { acquire: 115_000, read: 102_000 },
    ],
    [
      "the holder's expiry, and a read after a third of its lease with a silent watch",
      { phase: campaigning, ...inContact, lock: heldByB, watchUp: true },
      { acquire: 115_000, read: 105_000 },
    ],
    [
      "a read after a third of the lease that the holder wrote, not of our own",
      {
        phase: campaigning,
        ...inContact,
        watchUp: true,
        lock: { ...heldByB, view: held(7, "b", { leaseDurationSeconds: 60 }) },
      },
      { acquire: 160_000, read: 120_000 },
    ],
    [
      "a read with a silent watch not sooner than retryPeriod",
      {
        phase: campaigning,
        ...inContact,
        watchUp: true,
        lock: { ...heldByB, view: held(7, "b", { leaseDurationSeconds: 3 }) },
      },
      { acquire: 103_000, read: 102_000 },
    ],
    [
      "a read after a third of our own lease if nobody holds the lock",
      {
        phase: { ...campaigning, notBeforeMs: 130_000 },
        ...inContact,
        watchUp: true,
        lock: { kind: "present", view: released(7), sinceMs: 0 },
      },
      { acquire: 130_000, read: 105_000 },
    ],
    [
      "a read after a third of our own lease if the lock does not exist",
      {
        phase: campaigning,
        ...inContact,
        watchUp: true,
        lock: { kind: "absent", sinceMs: 0 },
        vanishedHolderUntilMs: 111_000,
      },
      { acquire: 111_000, read: 105_000 },
    ],
    [
      "the holder's expiry plus the stagger",
      { phase: { ...campaigning, staggerMs: 7 }, ...inContact, lock: heldByB },
      { acquire: 115_007, read: 102_000 },
    ],
    [
      "no acquisition before the cooldown is over",
      { phase: { ...campaigning, notBeforeMs: 120_000 }, ...inContact, lock: heldByB },
      { acquire: 120_000, read: 102_000 },
    ],
    [
      "no request before the back-off is over",
      { phase: campaigning, ...inContact, lock: heldByB, retryAtMs: 121_000 },
      { acquire: 121_000, read: 121_000 },
    ],
    [
      "only the timeout while a request is in flight",
      { phase: campaigning, ...inContact, lock: heldByB, inFlight },
      { "time-out-request": 102_500 },
    ],
    [
      "a stop at once when told to stop",
      { phase: campaigning, stopping: true, lock: heldByB },
      { stop: 100_000 },
    ],
    [
      "no stop while a write may be acquiring the lock",
      { phase: campaigning, stopping: true, lock: heldByB, inFlight },
      { "time-out-request": 102_500 },
    ],
    [
      "the renew deadline and the next renewal while leading",
      { phase: { name: "leading", term }, ...inContact },
      { "renew-deadline": 110_000, renew: 103_000 },
    ],
    [
      "the same while draining: renewals continue",
      { phase: { name: "draining", ...ending }, ...inContact },
      { "renew-deadline": 110_000, renew: 103_000 },
    ],
    [
      "the end of the time to stop while draining, also while a request is in flight",
      { phase: { name: "draining", ...ending, untilMs: 130_000 }, inFlight },
      { "renew-deadline": 110_000, "stop-timeout": 130_000, "time-out-request": 102_500 },
    ],
    [
      "a renewal after the back-off",
      { phase: { name: "leading", term }, ...inContact, retryAtMs: 104_000 },
      { "renew-deadline": 110_000, renew: 104_000 },
    ],
    [
      "a read instead of a renewal after a conflict",
      { phase: { name: "leading", term }, mustRead: true, retryAtMs: 100_100 },
      { "renew-deadline": 110_000, read: 100_100 },
    ],
    [
      "the renew deadline also while a request is in flight",
      { phase: { name: "leading", term }, inFlight },
      { "renew-deadline": 110_000, "time-out-request": 102_500 },
    ],
    [
      "only the hard deadline for a lost term: nothing is written",
      { phase: lost, ...inContact },
      { "hard-deadline": 114_750 },
    ],
    ["nothing after the hard deadline was reported", { phase: { ...lost, overrun: true } }, {}],
    [
      "the release at once, and giving up at the hard deadline",
      { phase: { name: "releasing", ...ending, wasStarted: true }, ...inContact },
      { "give-up-release": 114_750, release: 100_000 },
    ],
    [
      "a release after the back-off",
      { phase: { name: "releasing", ...ending, wasStarted: true }, retryAtMs: 100_300 },
      { "give-up-release": 114_750, release: 100_300 },
    ],
    [
      "a read before the release after a conflict",
      { phase: { name: "releasing", ...ending, wasStarted: true }, ...inContact, mustRead: true },
      { "give-up-release": 114_750, read: 100_000 },
    ],
    [
      "giving up the release also while a request is in flight",
      { phase: { name: "releasing", ...ending, wasStarted: true }, inFlight },
      { "give-up-release": 114_750, "time-out-request": 102_500 },
    ],
  ])("has %s", (_what, state, entries) => {
    expect(entriesOf(state)).toEqual(Object.entries(entries));
  });

  it("puts deadlines before requests when both are due", () => {
    const late = { monoMs: now.monoMs + 20_000, wallMs: now.wallMs + 20_000 };
    expect(entriesOf({ phase: { name: "leading", term } }, late)[0]).toEqual(["renew-deadline", 110_000]);
    expect(entriesOf({ phase: { name: "releasing", ...ending, wasStarted: true } }, late)[0]).toEqual([
      "give-up-release",
      114_750,
    ]);
    expect(entriesOf({ phase: { name: "leading", term }, inFlight }, late)[0]).toEqual([
      "renew-deadline",
      110_000,
    ]);
  });

  it("measures our own deadlines by the clock that shows more, so a suspension brings them nearer", () => {
    const suspended = { monoMs: now.monoMs, wallMs: now.wallMs + 4_000 };
    expect(entriesOf({ phase: { name: "leading", term }, ...inContact }, suspended)[0]).toEqual([
      "renew-deadline",
      106_000,
    ]);
    expect(entriesOf({ phase: lost }, suspended)).toEqual([["hard-deadline", 110_750]]);
    expect(entriesOf({ phase: { name: "releasing", ...ending, wasStarted: true } }, suspended)[0]).toEqual([
      "give-up-release",
      110_750,
    ]);
  });

  it("measures another holder's lease by the monotonic clock, so a suspension does not shorten the wait", () => {
    const suspended = { monoMs: now.monoMs, wallMs: now.wallMs + 4_000 };
    expect(entriesOf({ phase: campaigning, ...inContact, lock: heldByB }, suspended)[0]).toEqual([
      "acquire",
      115_000,
    ]);
  });
});

describe("nextWakeMs", () => {
  it("is the earliest entry", () => {
    expect(nextWakeMs(config, { ...initialState, phase: { name: "leading", term }, ...inContact }, now)).toBe(
      102_900,
    );
  });
  const leading = (sentMs: number, state: Partial<State> = {}): State => {
    const sent = { monoMs: sentMs, wallMs: now.wallMs + sentMs - now.monoMs };
    return { ...initialState, phase: { name: "leading", term: { ...term, sent } }, ...inContact, ...state };
  };
  it.each([99_900, 100_000, 100_001, 100_199.9])(
    "is the same for all renewals that are due within a tenth of their interval, and early for none by more: sent at %s",
    (sentMs) => expect(nextWakeMs(config, leading(sentMs), now)).toBe(102_900),
  );
  it("is later for a renewal that is due later", () => {
    expect(nextWakeMs(config, leading(100_200), now)).toBe(103_200);
  });
  it("is not before the end of the back-off", () => {
    expect(nextWakeMs(config, leading(100_050, { retryAtMs: 103_020 }), now)).toBe(103_020);
    expect(nextWakeMs(config, leading(100_050, { retryAtMs: 103_420 }), now)).toBe(103_420);
  });
  it("is exact for renewals every second, which client-go could not tell apart otherwise", () => {
    const everySecond = { ...config, timings: resolveTimings({ renewInterval: "1s" }) };
    expect(nextWakeMs(everySecond, leading(100_017), now)).toBe(101_017);
    const almost = { ...config, timings: resolveTimings({ renewInterval: "1010ms" }) };
    expect(nextWakeMs(almost, leading(100_017), now)).toBe(101_020);
  });
  it("is exact while another task is due first", () => {
    const ending = { name: "draining", term, reason: "step-down", cooldownMs: 0, untilMs: 100_017 } as const;
    expect(nextWakeMs(config, { ...initialState, ...inContact, phase: ending }, now)).toBe(100_017);
  });
  it("is exact for what is no renewal", () => {
    const state = {
      ...initialState,
      phase: { ...lost, term: { ...term, sent: { monoMs: 100_017, wallMs: 900_017 } } },
    };
    expect(nextWakeMs(config, state, now)).toBe(100_017 + config.timings.hardDeadlineMs);
  });
  it("is infinite if the agenda is empty", () => {
    expect(nextWakeMs(config, initialState, now)).toBe(Number.POSITIVE_INFINITY);
  });
});
