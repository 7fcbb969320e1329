import { describe, expect, it } from "vitest";
import { isLeak, mostDescriptors, mostMegabytes, UsageLog } from "./leaks.mjs";

/** A process of so many seconds, and what it used in each. */
function growthOf(seconds: number, usage: (second: number) => { descriptors?: number; megabytes?: number }) {
  const log = new UsageLog("r0-0");
  for (let second = 0; second < seconds; second++)
    log.add({ descriptors: 20, megabytes: 50, ...usage(second) });
  return log.growth();
}

const verdict = (...args: Parameters<typeof growthOf>) => {
  const growth = growthOf(...args);
  return growth && isLeak(growth);
};

describe("a process", () => {
  it.each<[string, Parameters<typeof growthOf>[1], boolean]>([
    ["that stays as it is", () => ({}), false],
    [
      "that loses a descriptor every four seconds",
      (second) => ({ descriptors: 20 + Math.floor(second / 4) }),
      true,
    ],
    ["that loses a megabyte a second", (second) => ({ megabytes: 50 + second }), true],
    ["that grows while it starts", (second) => ({ megabytes: second < 5 ? 10 * second : 60 }), false],
    ["that has a burst at its end", (second) => ({ descriptors: second > 95 ? 200 : 20 }), false],
    [
      "whose garbage is collected",
      (second) => ({ megabytes: 50 + (second % 8) * 10, descriptors: 20 + (second % 3) }),
      false,
    ],
    ["within the bound", (second) => (second < 50 ? {} : { descriptors: 20 + mostDescriptors }), false],
    ["beyond the bound", (second) => (second < 50 ? {} : { descriptors: 21 + mostDescriptors }), true],
    ["within the other bound", (second) => (second < 50 ? {} : { megabytes: 50 + mostMegabytes }), false],
    ["beyond the other bound", (second) => (second < 50 ? {} : { megabytes: 51 + mostMegabytes }), true],
  ])("%s", (_what, usage, expected) => expect(verdict(100, usage)).toBe(expected));

  it("that did not live long enough is not judged", () => {
    const leaking = (second: number) => ({ descriptors: 20 + 100 * second });
    expect([verdict(24, leaking), verdict(25, leaking)]).toEqual([undefined, true]);
  });
});
