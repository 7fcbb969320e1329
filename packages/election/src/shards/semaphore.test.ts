/** A semaphore on Leases in memory, in virtual time. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import type { Term } from "../term.ts";
import { LeaseApi } from "../testing/lease-api.ts";
import { Semaphore } from "./semaphore.ts";

const untilAborted = ({ signal }: Term) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

function world() {
  const clock = new VirtualClock();
  const api = new LeaseApi();
  const holders = new Set<string>();
  let most = 0;
  const join = (identity: string, work = untilAborted) => {
    const { client } = api.connect();
    const semaphore = new Semaphore({
      ...{ name: "crawler", permits: 2, namespace: "prod", onOverrun: "report", random: () => 0.5 },
      ...{ identity, client, clock },
    });
    const events: string[] = [];
    semaphore.on("permit-started", ({ permit }) => void events.push(`started ${permit}`));
    semaphore.on("permit-ended", ({ reason }) => void events.push(`ended ${reason}`));
    const stop = new AbortController();
    const run = semaphore.run(
      async (term) => {
        holders.add(identity);
        most = Math.max(most, holders.size);
        await work(term);
        holders.delete(identity);
      },
      { signal: stop.signal },
    );
    return { semaphore, events, stop, run };
  };
  return { clock, join, holders, most: () => most };
}

describe("a semaphore", () => {
  it("lets two of three work, and says who", async () => {
    const { clock, join, holders, most } = world();
    const members = ["a", "b", "c"].map((identity) => join(identity));
    await clock.pass(20_000);
    expect(holders.size).toBe(2);
    const [first] = members;
    expect([...(first?.semaphore.holders ?? [])].sort()).toEqual([...holders].sort());
    const waiting = members.find(({ semaphore }) => semaphore.term === undefined);
    expect(waiting?.semaphore.health()).toEqual({ healthy: true, message: "waiting" });
    const working = members.find(({ semaphore }) => semaphore.term !== undefined);
    expect(working?.semaphore.health().message).toBe("working on 1 permit");
    expect(most()).toBe(2);
  });

  it("gives the permit of one that steps down or leaves to the one that waits", async () => {
    const { clock, join, holders, most } = world();
    const members = new Map(["a", "b", "c"].map((identity) => [identity, join(identity)]));
    await clock.pass(20_000);
    const waiting = ["a", "b", "c"].find((identity) => !holders.has(identity)) as string;
    const [first, second] = [...holders] as [string, string];
    members.get(first)?.semaphore.stepDown();
    await clock.pass(10_000);
    expect([...holders].sort()).toEqual([second, waiting].sort());
    members.get(second)?.stop.abort();
    await clock.pass(10_000);
    expect([...holders].sort()).toEqual([first, waiting].sort());
    expect(members.get(second)?.events).toContain("ended shutdown");
    expect(most()).toBe(2);
  });
});
