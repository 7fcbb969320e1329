/** How long a child may take to stop, and until when it may work: the numbers, without a watchdog that would mend them. */
import { describe, expect, it } from "vitest";
import { type Crew, deadlineOf, tellDeadline, timeToStopMs } from "./crew.ts";
import type { TermLike } from "./office.ts";
import { VirtualClock } from "./testing/virtual-clock.ts";

const aborted = AbortSignal.abort();
const notAborted = new AbortController().signal;

function termWith(remainingMs: number, signals: { lost?: boolean; expired?: boolean } = {}): TermLike {
  return {
    identity: "a",
    token: 7n,
    signal: signals.lost ? aborted : notAborted,
    lost: signals.lost ? aborted : notAborted,
    expired: signals.expired ? aborted : notAborted,
    isValid: () => remainingMs > 0,
    remainingMs: () => remainingMs,
  };
}

const crew = { options: { stopTimeoutMs: 25_000, killMarginMs: 500 } } as Crew;

describe("timeToStopMs", () => {
  it.each([
    ["on purpose: the stop timeout, however little is left of the lease", termWith(2_000), 25_000],
    [
      "lost: what is left, less the margin, and a little before the watchdog",
      termWith(4_000, { lost: true }),
      3_475,
    ],
    ["lost with less left than the margin: nothing", termWith(400, { lost: true }), 0],
    ["expired: nothing", termWith(4_000, { lost: true, expired: true }), 0],
    ["run out unseen, because this process was frozen: nothing", termWith(0), 0],
  ])("%s", (_, term, ms) => {
    expect(timeToStopMs(crew, term)).toBe(ms);
  });
});

describe("deadlineOf", () => {
  it("is on both clocks", () => {
    const clock = new VirtualClock();
    const { monoMs, wallMs } = clock.now();
    expect(deadlineOf(termWith(3_000), clock)).toEqual({ monoMs: monoMs + 3_000, wallMs: wallMs + 3_000 });
  });

  it("is never too late, also when this process is frozen between its two questions", () => {
    const endMs = 11_000;
    let nowMs = 1_000;
    const thenFreeze = <T>(answer: T): T => {
      nowMs += 2_500;
      return answer;
    };
    const clock = { now: () => thenFreeze({ monoMs: nowMs, wallMs: nowMs }), at: () => () => {} };
    const term = { ...termWith(1), remainingMs: () => thenFreeze(endMs - nowMs) };
    expect(deadlineOf(term, clock).monoMs).toBeLessThanOrEqual(endMs);
  });
});

it("the watchdog is told the deadline less the time to kill, the child all of it", async () => {
  const clock = new VirtualClock();
  const told: unknown[] = [];
  const whole = {
    ...crew,
    clock,
    watchdog: { setDeadline: (at: unknown) => told.push(at) },
    deadlineFile: { write: async (at: unknown, token: bigint) => void told.push(at, token) },
  } as unknown as Crew;
  await tellDeadline(whole, termWith(3_000));
  const { monoMs, wallMs } = clock.now();
  expect(told).toEqual([
    { monoMs: monoMs + 2_500, wallMs: wallMs + 2_500 },
    { monoMs: monoMs + 3_000, wallMs: wallMs + 3_000 },
    7n,
  ]);
});
