import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import type { SupervisedTerm } from "./election-seam.ts";
import type { RunContext } from "./run-context.ts";
import { deadlineOf, publishDeadline, timeToStopMs } from "./term-deadline.ts";

const aborted = AbortSignal.abort();
const notAborted = new AbortController().signal;

function termWith(remainingMs: number, signals: { lost?: boolean; expired?: boolean } = {}): SupervisedTerm {
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

const context = { options: { stopTimeoutMs: 25_000, killMarginMs: 500 } } as RunContext;

describe("timeToStopMs", () => {
  it.each([
    ["on purpose: the stop timeout, however little of the lease remains", termWith(2_000), 25_000],
    [
      "lost: the remaining time less the kill margin, and 25 ms before the watchdog",
      termWith(4_000, { lost: true }),
      3_475,
    ],
    ["lost with less time than the kill margin: 0", termWith(400, { lost: true }), 0],
    ["expired: 0", termWith(4_000, { lost: true, expired: true }), 0],
    ["ran out while this process was frozen: 0", termWith(0), 0],
  ])("%s", (_, term, ms) => {
    expect(timeToStopMs(context, term)).toBe(ms);
  });
});

describe("deadlineOf", () => {
  it("is on both clocks", () => {
    const clock = new VirtualClock();
    const { monoMs, wallMs } = clock.now();
    expect(deadlineOf(termWith(3_000), clock)).toEqual({ monoMs: monoMs + 3_000, wallMs: wallMs + 3_000 });
  });

  it("is never too late, even if this process is frozen while it is computed", () => {
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

it("publishDeadline sends the deadline less the kill margin to the watchdog, and the whole deadline to the child", async () => {
  const clock = new VirtualClock();
  const published: unknown[] = [];
  const whole = {
    ...context,
    clock,
    watchdog: { setDeadline: (at: unknown) => published.push(at) },
    deadlineFile: { write: async (at: unknown, token: bigint) => void published.push(at, token) },
  } as unknown as RunContext;
  await publishDeadline(whole, termWith(3_000));
  const { monoMs, wallMs } = clock.now();
  expect(published).toEqual([
    { monoMs: monoMs + 2_500, wallMs: wallMs + 2_500 },
    { monoMs: monoMs + 3_000, wallMs: wallMs + 3_000 },
    7n,
  ]);
});
