import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { onAbort } from "./on-abort.ts";
import { newMember } from "./testing/elections.ts";
import { MemoryServer } from "./testing/memory-lock.ts";
import { settle, VirtualClock } from "./testing/virtual-clock.ts";

const warnings: Error[] = [];
const onWarning = (warning: Error) => void warnings.push(warning);
process.on("warning", onWarning);
afterEach(() => void warnings.splice(0));

describe("onAbort", () => {
  it("tells all, in their order, with one listener on the signal", () => {
    const controller = new AbortController();
    const told: number[] = [];
    for (let index = 0; index < 50; index++) onAbort(controller.signal, () => told.push(index));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    controller.abort();
    expect(told).toEqual(Array.from({ length: 50 }, (_, index) => index));
  });

  it("does not tell who ended it, and leaves nothing on the signal when all have", () => {
    const controller = new AbortController();
    const told: string[] = [];
    const endA = onAbort(controller.signal, () => told.push("a"));
    const endB = onAbort(controller.signal, () => told.push("b"));
    endA();
    endA();
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    endB();
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    onAbort(controller.signal, () => told.push("c"));
    controller.abort();
    expect(told).toEqual(["c"]);
  });
});

describe("one signal for many elections", () => {
  it("ends them all, and Node has nothing to warn of", async () => {
    const clock = new VirtualClock();
    const members = Array.from({ length: 50 }, (_, index) =>
      newMember(`m${index}`, { server: new MemoryServer(clock) }),
    );
    const controller = new AbortController();
    for (const member of members) member.run(undefined, { signal: controller.signal });
    await clock.pass(100);
    expect(members.every(({ terms }) => terms.length === 1)).toBe(true);
    controller.abort();
    await clock.pass(100);
    expect(members.every(({ isDone }) => isDone)).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    await settle();
    expect(warnings).toEqual([]);
  });
});
