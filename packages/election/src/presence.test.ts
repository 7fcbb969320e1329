/** Coordinated elections over a simulated lock: when the candidate takes part, and what it says if the server does not support it. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { Election } from "@tenure/election";
import { MemoryServer } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Coordination, CoordinationObserver, Lock } from "./lock.ts";

class Server implements Coordination {
  readonly calls: string[] = [];
  served: boolean | Error = true;
  observer: CoordinationObserver | undefined;

  async isServed(): Promise<boolean> {
    this.calls.push("asked");
    if (this.served instanceof Error) throw this.served;
    return this.served;
  }

  async renew(): Promise<undefined> {
    this.calls.push("renewed");
  }

  async remove(): Promise<undefined> {
    this.calls.push("removed");
  }

  watch(_identity: string, observer: CoordinationObserver): void {
    this.observer = observer;
  }
}

function world(whenUnavailable?: "elect") {
  const clock = new VirtualClock();
  const memory = new MemoryServer(clock);
  const link = memory.link();
  const server = new Server();
  const lock: Lock = new Proxy<Lock>(link, {
    get: (target, key) => {
      if (key === "coordination") return server;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const election = new Election({
    lock,
    identity: "a",
    clock,
    random: () => 0.5,
    coordinated: { version: "1.0.0", ...(whenUnavailable && { whenUnavailable }) },
  });
  const errors: string[] = [];
  election.on("error", ({ error }) => void errors.push(error.message));
  return { clock, server, election, errors, memory, link };
}

describe("a coordinated election", () => {
  it("takes part after the lock was read, never takes the lock by itself, and answers the server", async () => {
    const { clock, server, election, memory } = world();
    void election.run();
    await clock.pass(60_000);
    expect(server.calls).toEqual(["asked", "renewed"]);
    expect([election.isLeader(), memory.holder]).toEqual([false, undefined]);
    server.observer?.observed(new Date(clock.now().wallMs + 1).toISOString());
    await clock.pass(1_000);
    expect(server.calls).toEqual(["asked", "renewed", "renewed"]);
  });

  it("is not joined before the lock was read", async () => {
    const { clock, server, election, link } = world();
    link.cut();
    void election.run();
    await clock.pass(5_000);
    expect(server.calls).toEqual(["asked"]);
    link.cut(false);
    await clock.pass(5_000);
    expect(server.calls).toEqual(["asked", "renewed"]);
  });

  it("is left at the end of a run, even if an earlier run becomes ready during it", async () => {
    const { clock, server, election, link } = world();
    let prepared = () => {};
    link.prepare = () =>
      new Promise((resolve) => {
        prepared = resolve;
      });
    const first = election.run();
    await clock.pass(10);
    void election.stop();
    await first;
    link.prepare = async () => {};
    const second = election.run();
    await clock.pass(1_000);
    prepared();
    await clock.pass(10);
    void election.stop();
    await clock.pass(1_000);
    await second;
    expect(server.calls).toEqual(["asked", "renewed", "removed"]);
  });

  it("is left before the run ends", async () => {
    const { clock, server, election } = world();
    const run = election.run();
    await clock.pass(1_000);
    void election.stop();
    await clock.pass(1_000);
    await run;
    expect(server.calls.at(-1)).toBe("removed");
  });

  it("rejects the run if the server does not support it, and says what to do", async () => {
    const { server, election } = world();
    server.served = false;
    await expect(election.run()).rejects.toMatchObject({
      code: "NotCoordinated",
      message: expect.stringContaining("--feature-gates=CoordinatedLeaderElection=true"),
    });
    expect(server.calls).toEqual(["asked"]);
  });

  it("is an ordinary election then, if it is told so", async () => {
    const { clock, server, election, errors } = world("elect");
    server.served = false;
    void election.run();
    await clock.pass(1_000);
    expect(election.isLeader()).toBe(true);
    expect(errors).toEqual([expect.stringContaining("is not coordinated")]);
  });

  it("does not become an ordinary election because it is told to end", async () => {
    const { clock, server, election, errors } = world("elect");
    server.served = new Error("connection refused");
    const run = election.run();
    await clock.pass(1_000);
    void election.stop();
    await clock.pass(10);
    await run;
    expect(new Set(errors)).toEqual(new Set(["connection refused"]));
  });

  it("asks again while the server does not answer, and ends if it is told to", async () => {
    const { clock, server, election, errors } = world();
    server.served = new Error("connection refused");
    const run = election.run();
    await clock.pass(5_000);
    expect(errors.length).toBeGreaterThan(1);
    void election.stop();
    await clock.pass(10);
    await run;
    expect(server.calls).not.toContain("renewed");
  });
});
