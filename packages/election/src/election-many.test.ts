import { getEventListeners } from "node:events";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, newReplica } from "@tenure/testkit";
import { afterEach, describe, expect, it } from "vitest";

const warnings: Error[] = [];
const onWarning = (warning: Error) => void warnings.push(warning);
process.on("warning", onWarning);
afterEach(() => void warnings.splice(0));

describe("one signal for many elections", () => {
  it("ends them all without a warning from Node", async () => {
    const clock = new VirtualClock();
    const replicas = Array.from({ length: 50 }, (_, index) =>
      newReplica({ identity: `m${index}`, server: new MemoryServer(clock) }),
    );
    const controller = new AbortController();
    for (const replica of replicas) replica.run(undefined, { signal: controller.signal });
    await clock.pass(100);
    expect(replicas.every(({ terms }) => terms.length === 1)).toBe(true);
    controller.abort();
    await clock.pass(100);
    expect(replicas.every(({ isDone }) => isDone)).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    await settle();
    expect(warnings).toEqual([]);
  });
});
