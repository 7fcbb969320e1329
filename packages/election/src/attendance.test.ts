/** Candidates are shown to operators, and never at the cost of an election. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Failure } from "@tenure/core";
import { Election, type ElectionOptions } from "@tenure/election";
import { MemoryServer } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { CandidateRegistry, Lock } from "./lock.ts";

const denied: Failure = { kind: "denied", message: "Cannot patch leases." };

class Registry implements CandidateRegistry {
  readonly shown = new Map<string, string>();
  readonly calls: string[] = [];
  failure: Failure | undefined;
  hangs = false;
  /** The signal of the last withdrawal. */
  withdrawal: AbortSignal | undefined;

  publish: CandidateRegistry["publish"] = async ({ identity, standing }, signal) => {
    this.calls.push(`publish ${standing.name}`);
    await this.#hang(signal);
    if (!this.failure) this.shown.set(identity, `${standing.name}: ${standing.reason}`);
    return this.failure;
  };

  withdraw: CandidateRegistry["withdraw"] = async (identity, signal) => {
    this.calls.push("withdraw");
    this.withdrawal = signal;
    await this.#hang(signal);
    if (!this.failure) this.shown.delete(identity);
    return this.failure;
  };

  sweep: CandidateRegistry["sweep"] = async () => {
    this.calls.push("sweep");
    return this.failure;
  };

  async #hang(signal: AbortSignal): Promise<void> {
    if (this.hangs && !signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
}

function world() {
  const clock = new VirtualClock();
  const server = new MemoryServer(clock);
  const registry = new Registry();
  const start = (identity: string, options: Partial<ElectionOptions> = {}) => {
    const link = server.link();
    const lock = withCandidates(link, registry);
    const election = new Election({ lock, identity, clock, random: () => 0.5, ...options });
    const errors: string[] = [];
    election.on("error", ({ error }) => void errors.push(error.message));
    const stop = new AbortController();
    const run = election.run({ signal: stop.signal });
    return { election, link, errors, stop, run };
  };
  return { clock, registry, start };
}

function withCandidates(lock: Lock, candidates: CandidateRegistry): Lock {
  return new Proxy(lock, {
    get: (target, key) => {
      if (key === "candidates") return candidates;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("operators see", () => {
  it("who leads, and why the others do not", async () => {
    const { clock, registry, start } = world();
    start("a");
    await clock.pass(1_000);
    start("b");
    start("c", { noFailover: true });
    await clock.pass(5_000);
    expect(Object.fromEntries(registry.shown)).toEqual({
      a: "leading: leads",
      b: "waiting: a leads",
      c: "no-failover: takes over only by a transfer (noFailover)",
    });
  });

  it("the candidate until it stops", async () => {
    const { clock, registry, start } = world();
    const { stop, run } = start("a");
    await clock.pass(1_000);
    expect([...registry.shown.keys()]).toEqual(["a"]);
    stop.abort();
    await clock.pass(300_000);
    await run;
    expect([...registry.shown.keys()]).toEqual([]);
    expect(registry.calls.at(-1)).toBe("withdraw");
  });

  it("why the requests of a candidate fail, and that they work again", async () => {
    const { clock, registry, start } = world();
    start("a");
    await clock.pass(1_000);
    const { link } = start("b");
    await clock.pass(1_000);
    link.fault = () => ({ kind: "server", message: "etcd has no leader" });
    await clock.pass(60_000);
    expect(registry.shown.get("b")).toBe("failing: etcd has no leader");
    link.fault = undefined;
    await clock.pass(60_000);
    expect(registry.shown.get("b")).toBe("waiting: a leads");
  });

  it("no failure if only the watch of a candidate fails", async () => {
    const { clock, registry, start } = world();
    const { link } = start("a");
    let fail = () => {};
    link.watch = (observer) => {
      observer.up();
      fail = () => observer.down({ kind: "denied", message: "Cannot watch leases." });
    };
    // In between two renewals, so that no answer follows the failure at once.
    await clock.pass(40_000);
    fail();
    await clock.pass(60_000);
    expect(registry.calls).not.toContain("publish failing");
    expect(registry.shown.get("a")).toBe("leading: leads");
  });

  it("nothing with register: false", async () => {
    const { clock, registry, start } = world();
    const { election } = start("a", { register: false });
    await clock.pass(120_000);
    expect(election.isLeader()).toBe(true);
    expect(registry.calls).toEqual([]);
  });
});

describe("the election goes on", () => {
  it("without the permission, and says so once", async () => {
    const { clock, registry, start } = world();
    registry.failure = denied;
    const { election, errors, stop, run } = start("a");
    await clock.pass(1_300_000);
    expect(election.isLeader()).toBe(true);
    expect(errors).toEqual([
      expect.stringMatching(/^Cannot show this candidate .*patch leases.*register: false/),
    ]);
    stop.abort();
    await clock.pass(1_000);
    await run;
    expect(errors).toHaveLength(1);
  });

  it("while the requests hang, and a stop waits half a second at most, after the lease was released", async () => {
    const { clock, registry, start } = world();
    registry.hangs = true;
    const a = start("a");
    await clock.pass(1_000);
    expect(a.election.isLeader()).toBe(true);
    start("b");
    await clock.pass(30_000);
    a.stop.abort();
    let isOver = false;
    void a.run.then(() => {
      isOver = true;
    });
    await clock.pass(400);
    expect([isOver, a.election.isLeader()]).toEqual([false, false]);
    expect(registry.withdrawal?.aborted).toBe(false);
    await clock.pass(600);
    expect(isOver).toBe(true);
    expect(registry.withdrawal?.aborted).toBe(true);
  });
});
