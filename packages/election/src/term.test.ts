import type { Instant } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Term } from "./term.ts";

function newTerm(forMs = 10_000) {
  const clock = new VirtualClock();
  const { monoMs, wallMs } = clock.now();
  const end: { value: Instant | undefined } = { value: { monoMs: monoMs + forMs, wallMs: wallMs + forMs } };
  return { clock, end, term: new Term("a", 42n, clock, () => end.value) };
}

describe("Term", () => {
  it("is valid before its end, not at its end", () => {
    const { clock, term } = newTerm();
    expect([term.isValid(), term.remainingMs()]).toEqual([true, 10_000]);
    clock.freeze(9_999);
    expect([term.isValid(), term.remainingMs()]).toEqual([true, 1]);
    clock.freeze(1);
    expect([term.isValid(), term.remainingMs()]).toEqual([false, 0]);
    clock.freeze(5_000);
    expect(term.remainingMs()).toBe(0);
  });

  it("ends by the clock that reaches the end first", () => {
    const suspended = newTerm();
    suspended.clock.suspend(9_000);
    expect(suspended.term.remainingMs()).toBe(1_000);
    suspended.clock.suspend(1_000);
    expect([suspended.term.isValid(), suspended.term.remainingMs()]).toEqual([false, 0]);
    const setBack = newTerm();
    setBack.clock.suspend(-3_600_000);
    expect(setBack.term.remainingMs()).toBe(10_000);
    setBack.clock.freeze(10_000);
    expect(setBack.term.isValid()).toBe(false);
  });

  it("asks for its end every time: a renewal moves it, and a loss removes it", () => {
    const { clock, end, term } = newTerm();
    end.value = { monoMs: clock.now().monoMs + 20_000, wallMs: clock.now().wallMs + 20_000 };
    expect(term.remainingMs()).toBe(20_000);
    end.value = undefined;
    expect([term.isValid(), term.remainingMs()]).toEqual([false, 0]);
  });

  it("stays invalid once it is closed, even if its election leads again", () => {
    const { term } = newTerm();
    term.close();
    expect([term.isValid(), term.remainingMs(), term.signal.aborted]).toEqual([false, 0, false]);
  });

  it("keeps the first reason of its signal", () => {
    const { term } = newTerm();
    term.abort("step-down");
    term.abort("taken-over");
    expect(term.signal.reason).toMatchObject({ code: "TermEnded", reason: "step-down" });
    expect(term.isValid()).toBe(true);
  });

  it("is valid exactly while remainingMs() is positive", () => {
    const ms = fc.integer({ min: -20_000, max: 20_000 });
    fc.assert(
      fc.property(ms, fc.nat(20_000), ms, (forMs, frozenMs, jumpMs) => {
        const { clock, term } = newTerm(forMs);
        clock.freeze(frozenMs);
        clock.suspend(jumpMs);
        expect(term.isValid()).toBe(term.remainingMs() > 0);
      }),
    );
  });
});
