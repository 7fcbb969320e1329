import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { onClockJump } from "./clock-jumps.ts";
import { newLeader } from "./testing/rig.ts";

function listening(clock: VirtualClock, onTold?: () => void) {
  const heard = { times: 0 };
  const end = onClockJump(clock, () => {
    heard.times += 1;
    onTold?.();
  });
  return { heard, end };
}

describe("a jump of the clock", () => {
  it.each([
    ["the machine was suspended", 20_000],
    ["the clock was set back", -20_000],
    ["the smallest that counts", 20],
  ])("is told within 40 ms, once: %s", async (_what, jumpMs) => {
    const clock = new VirtualClock();
    const { heard, end } = listening(clock);
    await clock.pass(1_000);
    clock.suspend(jumpMs);
    await clock.pass(40);
    expect(heard.times).toBe(1);
    await clock.pass(1_000);
    expect(heard.times).toBe(1);
    end();
  });

  it("is looked for as often as the clock says", async () => {
    const clock = Object.assign(new VirtualClock(), { jumpCheckMs: 500 });
    const { heard, end } = listening(clock);
    clock.suspend(20_000);
    await clock.pass(499);
    expect(heard.times).toBe(0);
    await clock.pass(1);
    expect(heard.times).toBe(1);
    end();
  });

  it("is none while the process is frozen, as both clocks go on", async () => {
    const clock = new VirtualClock();
    const { heard } = listening(clock);
    clock.freeze(60_000);
    await clock.pass(1_000);
    expect(heard.times).toBe(0);
  });

  it("is told to all, also to those after one that throws, and is looked for further", async () => {
    const clock = new VirtualClock();
    const first = listening(clock);
    const bad = listening(clock, () => {
      throw new Error("this listener throws");
    });
    const last = listening(clock);
    clock.suspend(1_000);
    await expect(clock.pass(40)).rejects.toThrow("this listener throws");
    bad.end();
    clock.suspend(1_000);
    await clock.pass(40);
    expect([first, bad, last].map(({ heard }) => heard.times)).toEqual([2, 1, 2]);
  });

  it("is not told to one that was ended by another in the same round, nor after its end", async () => {
    const clock = new VirtualClock();
    const ends: (() => void)[] = [];
    listening(clock, () => ends.forEach((end) => void end()));
    const other = listening(clock);
    ends.push(other.end);
    clock.suspend(1_000);
    await clock.pass(40);
    expect(other.heard.times).toBe(0);
  });
});

describe("the check", () => {
  it("is one timer for all who listen, and none when nobody does", async () => {
    const clock = new VirtualClock();
    const all = Array.from({ length: 1_000 }, () => listening(clock));
    expect(clock.armed).toBe(1);
    await clock.pass(1_000);
    expect(clock.armed).toBe(1);
    for (const { end } of all.slice(1)) end();
    expect(clock.armed).toBe(1);
    all[0]?.end();
    all[0]?.end();
    expect(clock.armed).toBe(0);
    clock.suspend(5_000);
    const again = listening(clock);
    await clock.pass(1_000);
    expect([clock.armed, again.heard.times]).toEqual([1, 0]);
  });

  it("ends when the last listener ends itself while it is told", async () => {
    const clock = new VirtualClock();
    const one = listening(clock, () => one.end());
    clock.suspend(1_000);
    await clock.pass(40);
    expect([one.heard.times, clock.armed]).toEqual([1, 0]);
  });

  it("is one of its own for each clock", async () => {
    const [clock, other] = [new VirtualClock(), new VirtualClock()];
    const [one, two] = [listening(clock), listening(other)];
    clock.suspend(1_000);
    await clock.pass(40);
    await other.pass(40);
    expect([one.heard.times, two.heard.times]).toEqual([1, 0]);
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
    for (const { heard } of leaders) heard();
    clock.suspend(20_000);
    await clock.pass(40);
    for (const { heard } of leaders) expect(heard()).toContain("term-lost");
  });
});
