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
    ["the smallest jump that counts", 20],
  ])("is reported once, within 40 ms: %s", async (_what, jumpMs) => {
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

  it("is checked for at the interval that the clock sets", async () => {
    const clock = Object.assign(new VirtualClock(), { jumpCheckMs: 500 });
    const { calls, end } = listen(clock);
    clock.suspend(20_000);
    await clock.pass(499);
    expect(calls.count).toBe(0);
    await clock.pass(1);
    expect(calls.count).toBe(1);
    end();
  });

  it("is not reported for a frozen process, because both clocks move on", async () => {
    const clock = new VirtualClock();
    const { calls } = listen(clock);
    clock.freeze(60_000);
    await clock.pass(1_000);
    expect(calls.count).toBe(0);
  });

  it("is reported to all listeners even if one throws, and the check goes on", async () => {
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

  it("surfaces the error of the first listener that throws", async () => {
    const clock = new VirtualClock();
    const [first, second] = [new Error("the first one"), new Error("the second one")];
    for (const error of [first, second])
      listen(clock, () => {
        throw error;
      });
    clock.suspend(1_000);
    await expect(clock.pass(40)).rejects.toBe(first);
  });

  it("is not reported to a listener that another listener removed", async () => {
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
  it("uses one timer for all listeners, and none without listeners", async () => {
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

  it("ends if the last listener removes itself when called", async () => {
    const clock = new VirtualClock();
    const one = listen(clock, () => one.end());
    clock.suspend(1_000);
    await clock.pass(40);
    expect([one.calls.count, clock.armed]).toEqual([1, 0]);
  });

  it("is separate for each clock", async () => {
    const [clock, other] = [new VirtualClock(), new VirtualClock()];
    const [one, two] = [listen(clock), listen(other)];
    clock.suspend(1_000);
    await clock.pass(40);
    await other.pass(40);
    expect([one.calls.count, two.calls.count]).toEqual([1, 0]);
  });

  it("uses one timer for many leaders, and a suspension ends each term", async () => {
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
