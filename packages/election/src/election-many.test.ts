import { getEventListeners } from "node:events";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer } from "@tenure/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { newMember } from "./testing/elections.ts";

const warnings: Error[] = [];
const onWarning = (warning: Error) => void warnings.push(warning);
process.on("warning", onWarning);
afterEach(() => void warnings.splice(0));

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
