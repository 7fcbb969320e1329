import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { onClockJump } from "./clock-jumps.ts";
import { newLeader } from "./testing/candidates.ts";

function listen(clock: VirtualClock, onCall?: () => void) {
  const calls = { count: 0 };
  const end = onClockJump(clock, () => {
    calls.count += 1;
    onCall?.();
  });
  return { calls, end };
}

describe("a jump of the clock", () => {
  it.each([
    ["the machine was suspended", 20_000],
    ["the clock was set back", -20_000],
    ["the smallest that counts", 20],
  ])("is told within 40 ms, once: %s", async (_what, jumpMs) => {
    const clock = new VirtualClock();
    const { calls, end } = listen(clock);
    await clock.pass(1_000);
    clock.suspend(jumpMs);
    await clock.pass(40);
    expect(calls.count).toBe(1);
    await clock.pass(1_000);
    expect(calls.count).toBe(1);
    end();
  });

  it("is looked for as often as the clock says", async () => {
    const clock = Object.assign(new VirtualClock(), { jumpCheckMs: 500 });
    const { calls, end } = listen(clock);
    clock.suspend(20_000);
    await clock.pass(499);
    expect(calls.count).toBe(0);
    await clock.pass(1);
    expect(calls.count).toBe(1);
    end();
  });

  it("is none while the process is frozen, as both clocks go on", async () => {
    const clock = new VirtualClock();
    const { calls } = listen(clock);
    clock.freeze(60_000);
    await clock.pass(1_000);
    expect(calls.count).toBe(0);
  });

  it("is told to all, also to those after one that throws, and is looked for further", async () => {
    const clock = new VirtualClock();
    const first = listen(clock);
    const bad = listen(clock, () => {
      throw new Error("this listener throws");
    });
    const last = listen(clock);
    clock.suspend(1_000);
    await expect(clock.pass(40)).rejects.toThrow("this listener throws");
    bad.end();
    clock.suspend(1_000);
    await clock.pass(40);
    expect([first, bad, last].map(({ calls }) => calls.count)).toEqual([2, 1, 2]);
  });

  it("is not told to one that was ended by another in the same round, nor after its end", async () => {
    const clock = new VirtualClock();
    const ends: (() => void)[] = [];
    listen(clock, () => ends.forEach((end) => void end()));
    const other = listen(clock);
    ends.push(other.end);
    clock.suspend(1_000);
    await clock.pass(40);
    expect(other.calls.count).toBe(0);
  });
});

describe("the check", () => {
  it("is one timer for all who listen, and none when nobody does", async () => {
    const clock = new VirtualClock();
    const all = Array.from({ length: 1_000 }, () => listen(clock));
    expect(clock.armed).toBe(1);
    await clock.pass(1_000);
    expect(clock.armed).toBe(1);
    for (const { end } of all.slice(1)) end();
    expect(clock.armed).toBe(1);
    all[0]?.end();
    all[0]?.end();
    expect(clock.armed).toBe(0);
    clock.suspend(5_000);
    const again = listen(clock);
    await clock.pass(1_000);
    expect([clock.armed, again.calls.count]).toEqual([1, 0]);
  });

  it("ends when the last listener ends itself while it is told", async () => {
    const clock = new VirtualClock();
    const one = listen(clock, () => one.end());
    clock.suspend(1_000);
    await clock.pass(40);
    expect([one.calls.count, clock.armed]).toEqual([1, 0]);
  });

  it("is one of its own for each clock", async () => {
    const [clock, other] = [new VirtualClock(), new VirtualClock()];
    const [one, two] = [listen(clock), listen(other)];
    clock.suspend(1_000);
    await clock.pass(40);
    await other.pass(40);
    expect([one.calls.count, two.calls.count]).toEqual([1, 0]);
  });

  it("of many leaders costs one timer, and each loses its term to a suspension", async () => {
    const first = await newLeader();
    const { clock } = first;
    const perLeader = clock.armed - 1;
    const { MemoryServer } = await import("@tenure/testkit");
    const leaders = [first];
    for (let index = 1; index < 20; index++)
      leaders.push(await newLeader({ server: new MemoryServer(clock) }));
    expect(clock.armed).toBe(1 + 20 * perLeader);
    for (const { newNotices } of leaders) newNotices();
    clock.suspend(20_000);
    await clock.pass(40);
    for (const { newNotices } of leaders) expect(newNotices()).toContain("term-lost");
  });
});
