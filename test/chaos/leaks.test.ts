import { describe, expect, it } from "vitest";
import { isLeak, mostDescriptors, mostMegabytes, UsageLog } from "./leaks.mjs";

/** The growth of a process that lives this many seconds and uses this much in each. */
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
    ["that uses the same amount", () => ({}), false],
    [
      "that leaks a descriptor every four seconds",
      (second) => ({ descriptors: 20 + Math.floor(second / 4) }),
      true,
    ],
    ["that leaks a megabyte per second", (second) => ({ megabytes: 50 + second }), true],
    ["that grows while it starts", (second) => ({ megabytes: second < 5 ? 10 * second : 60 }), false],
    ["with a burst at its end", (second) => ({ descriptors: second > 95 ? 200 : 20 }), false],
    [
      "with garbage that is collected",
      (second) => ({ megabytes: 50 + (second % 8) * 10, descriptors: 20 + (second % 3) }),
      false,
    ],
    [
      "at the limit of descriptors",
      (second) => (second < 50 ? {} : { descriptors: 20 + mostDescriptors }),
      false,
    ],
    [
      "above the limit of descriptors",
      (second) => (second < 50 ? {} : { descriptors: 21 + mostDescriptors }),
      true,
    ],
    ["at the limit of memory", (second) => (second < 50 ? {} : { megabytes: 50 + mostMegabytes }), false],
    ["above the limit of memory", (second) => (second < 50 ? {} : { megabytes: 51 + mostMegabytes }), true],
  ])("%s", (_what, usage, expected) => expect(verdict(100, usage)).toBe(expected));

  it("is not judged if it did not live long enough", () => {
    const leaking = (second: number) => ({ descriptors: 20 + 100 * second });
    expect([verdict(24, leaking), verdict(25, leaking)]).toEqual([undefined, true]);
  });
});
