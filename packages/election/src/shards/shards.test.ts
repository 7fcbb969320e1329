/** Shards on Leases in memory, in virtual time: the whole way from the API to the work. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { KubeError } from "@tenure/kube";
import { describe, expect, it, vi } from "vitest";
import type { Term } from "../term.ts";
import { LeaseApi } from "../testing/lease-api.ts";
import type { SetMetrics } from "./set-metrics.ts";
import { Shards, type ShardsOptions } from "./shards.ts";

const ended = vi.hoisted(() => ({ messages: [] as string[] }));
vi.mock("../platform.ts", async (original) => ({
  ...(await original<typeof import("../platform.ts")>()),
  endProcess: (message: string) => void ended.messages.push(message),
}));

const untilAborted = ({ signal }: Term) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

function world() {
  const clock = new VirtualClock();
  const api = new LeaseApi();
  /** Who works on which shard. */
  const working = new Map<number, string[]>();
  const doubles: string[] = [];
  const join = (identity: string, options: Partial<ShardsOptions> = {}, work = untilAborted) => {
    const { client, cut } = api.connect();
    const errors: string[] = [];
    const events: string[] = [];
    const measured: string[] = [];
    const metrics: SetMetrics = {
      owning: (count) => void measured.push(`owning ${count}`),
      termStarted: (index) => void measured.push(`started ${index}`),
      termEnded: (index, reason, servedMs) => void measured.push(`ended ${index} ${reason} ${servedMs > 0}`),
      requestFailed: (during, kind) => void measured.push(`${during} ${kind}`),
    };
    const common = {
      name: "billing",
      count: 4,
      namespace: "prod",
      onOverrun: "report",
      random: () => 0.5,
    } as const;
    const shards = new Shards({ ...common, identity, client, clock, metrics, ...options });
    shards.on("error", ({ error }) => void errors.push(error.message));
    shards.on("shard-started", ({ shard }) => void events.push(`started ${shard.index}`));
    shards.on("shard-ended", ({ shard, reason }) => void events.push(`ended ${shard.index} ${reason}`));
    shards.on("overrun", ({ shard }) => void events.push(`overrun ${shard.index}`));
    const stop = new AbortController();
    let isOver = false;
    const run = shards
      .run(
        async ({ index }, term) => {
          const others = working.get(index) ?? [];
          if (others.length > 0) doubles.push(`${identity} and ${others} work on ${index}`);
          working.set(index, [...others, identity]);
          try {
            await work(term);
          } finally {
            working.set(
              index,
              (working.get(index) ?? []).filter((each) => each !== identity),
            );
          }
        },
        { signal: stop.signal },
      )
      .finally(() => {
        isOver = true;
      });
    run.catch((error) => void errors.push(error.message));
    return { shards, errors, events, measured, stop, cut, isOver: () => isOver };
  };
  const shares = () => {
    const owners = [...working.values()].flat();
    const sizes = new Map<string, number>();
    for (const owner of owners) sizes.set(owner, (sizes.get(owner) ?? 0) + 1);
    return Object.fromEntries([...sizes].sort());
  };
  return { clock, api, join, shares, doubles, working };
}

describe("shards", () => {
  it("all belong to the only member, and are shared evenly with a second one", async () => {
    const { clock, join, shares, doubles } = world();
    const a = join("a");
    await clock.pass(5_000);
    expect(shares()).toEqual({ a: 4 });
    expect(a.shards.health()).toEqual({ healthy: true, message: "working on 4 shards" });
    const b = join("b");
    await clock.pass(20_000);
    expect(shares()).toEqual({ a: 2, b: 2 });
    expect(a.shards.assignment.map(({ shards }) => shards.length)).toEqual([2, 2]);
    expect(b.shards.assignment).toEqual(a.shards.assignment);
    expect(a.events.filter((event) => event.startsWith("ended"))).toHaveLength(2);
    expect([doubles, a.errors, b.errors]).toEqual([[], [], []]);
  });

  it("of a member that leaves go to the others before its run ends, and it leaves no Lease", async () => {
    const { clock, api, join, shares, doubles } = world();
    const a = join("a");
    await clock.pass(5_000);
    join("b");
    await clock.pass(20_000);
    a.stop.abort();
    await clock.pass(5_000);
    expect(a.isOver()).toBe(true);
    await clock.pass(10_000);
    expect([shares(), doubles]).toEqual([{ b: 4 }, []]);
    await clock.pass(60_000);
    expect([...api.leases.keys()].sort()).toEqual(["billing.shards", "billing.shards.b"]);
  });

  it("of a member that is cut off start elsewhere after its lease has expired, and its work was told to stop before", async () => {
    const { clock, join, shares, doubles } = world();
    const a = join("a");
    await clock.pass(5_000);
    join("b");
    await clock.pass(20_000);
    // The last renewal was up to 3 s ago. 10 s after it, the work is told to stop.
    a.cut();
    await clock.pass(6_900);
    expect(shares()).toEqual({ a: 2, b: 2 });
    await clock.pass(3_200);
    expect(shares()).toEqual({ b: 2 });
    await clock.pass(10_000);
    expect([shares(), doubles]).toEqual([{ b: 4 }, []]);
    expect(a.measured).toContain("renew unreachable");
    a.cut(false);
    await clock.pass(30_000);
    expect([shares(), doubles]).toEqual([{ a: 2, b: 2 }, []]);
  });

  it("have tokens that grow with every owner, and are measured", async () => {
    const { clock, join } = world();
    const a = join("a", { count: 1 });
    await clock.pass(5_000);
    const [first] = [...a.shards.terms.values()];
    a.shards.stepDown(0);
    await clock.pass(10_000);
    const [second] = [...a.shards.terms.values()];
    expect((second as Term).token > (first as Term).token).toBe(true);
    expect(a.measured).toEqual([
      ...["owning 1", "started 0", "owning 0", "ended 0 step-down true", "owning 1", "started 0"],
    ]);
  });

  it("know the owner of a key", async () => {
    const { clock, join } = world();
    const a = join("a");
    expect(a.shards.of("tenant-42").owner).toBeUndefined();
    await clock.pass(5_000);
    const { shard, owner } = a.shards.of("tenant-42");
    expect([owner, shard.has("tenant-42"), shard.count]).toEqual(["a", true, 4]);
  });

  it("report work that does not stop, and are unhealthy", async () => {
    const { clock, join } = world();
    const a = join("a", { stopTimeout: "10s" }, () => new Promise(() => {}));
    await clock.pass(5_000);
    join("b");
    await clock.pass(13_000);
    expect(a.events.filter((event) => event.startsWith("overrun"))).toHaveLength(1);
    expect(a.shards.health()).toMatchObject({
      healthy: false,
      message: expect.stringContaining("asked to stop"),
    });
    expect(ended.messages).toEqual([]);
  });

  it("end the process by default if work does not stop", async () => {
    const { clock, join } = world();
    join("a", { stopTimeout: "10s", onOverrun: "exit" }, () => new Promise(() => {}));
    await clock.pass(5_000);
    join("b");
    await clock.pass(13_000);
    expect(ended.messages).toEqual([expect.stringMatching(/has not stopped within stopTimeout/)]);
    ended.messages.length = 0;
  });

  it("report an error of the work, and start it again after the cool-down", async () => {
    const { clock, join } = world();
    let runs = 0;
    const a = join("a", { count: 1, cooldown: "3s" }, async (term) => {
      runs += 1;
      if (runs === 1) throw new Error("the work failed");
      await untilAborted(term);
    });
    await clock.pass(2_000);
    expect([runs, a.errors]).toEqual([1, ["the work failed"]]);
    await clock.pass(5_000);
    expect(runs).toBe(2);
  });

  it("stop when somebody deletes the map, and are shared again by a new one", async () => {
    const { clock, api, join, shares, doubles } = world();
    const a = join("a");
    await clock.pass(5_000);
    api.delete("billing.shards");
    await clock.pass(100);
    expect(a.events).toContain("ended 0 lock-deleted");
    await clock.pass(40_000);
    expect([shares(), doubles]).toEqual([{ a: 4 }, []]);
  });

  it("report a map that cannot be read, with what to do, and leave it as it is", async () => {
    const { clock, api, join } = world();
    const a = join("a");
    await clock.pass(5_000);
    const map = api.lease("billing.shards");
    const metadata = { ...map?.metadata, annotations: { "tenure.dev/map": "nonsense" } };
    api.put("billing.shards", { ...map, metadata } as never);
    await clock.pass(20_000);
    expect(a.errors.join("\n")).toContain("correct the annotation tenure.dev/map, or delete the Lease");
    expect(api.lease("billing.shards")?.metadata.annotations?.["tenure.dev/map"]).toBe("nonsense");
  });

  it("reject a run without the permission, if they are told to", async () => {
    const { clock, api, join } = world();
    api.fail = () => new KubeError("Forbidden", "Cannot create leases", { status: 403 });
    const a = join("a", { failWhenDenied: true });
    await clock.pass(5_000);
    expect(a.isOver()).toBe(true);
    expect(a.errors.at(-1)).toContain("Cannot take part in shards prod/billing");
  });

  it("cannot be run twice at the same time, and not at all after the signal has aborted", async () => {
    const { clock, join } = world();
    const a = join("a");
    await clock.pass(1_000);
    await expect(a.shards.run(untilAborted as never)).rejects.toMatchObject({ code: "AlreadyRunning" });
    await expect(join("b").shards.run(() => {}, { signal: AbortSignal.abort() })).rejects.toThrow();
  });

  it("are unhealthy after two leases without contact", async () => {
    const { clock, join } = world();
    const a = join("a");
    await clock.pass(5_000);
    a.cut();
    await clock.pass(26_900);
    expect(a.shards.health().healthy).toBe(true);
    await clock.pass(3_200);
    expect(a.shards.health().message).toMatch(/^no contact with shards prod\/billing for 3\d s$/);
  });
});
