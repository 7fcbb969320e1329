/** Children of every kind under the built command: nothing survives, and the exit code and the phases are right. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as children from "./children.mjs";
import { type Replica, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();
let count = 0;

/** Each in an election of its own. */
function start(child: readonly string[], flags: readonly string[] = []): Replica {
  const name = `child-${++count}`;
  const election = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", "a"];
  return startTenure(["run", ...election, ...flags, "--", ...child]);
}

const led = ["follower", "pre-leader", "leader"];
const ended = [...led, "terminating"];

describe("stopped by SIGTERM while it leads", { timeout: 30_000 }, () => {
  it.each([
    ["obeys", children.obedient, 0],
    ["takes a while", children.slowToStop(0.3), 0],
    ["ignores SIGTERM", children.ignoresSigterm, 1],
    ["forks grandchildren", children.forksGrandchildren, 0],
    ["floods stdout", children.floods, 0],
    ["blocks for a minute", children.blocks, 1],
  ])("a child that %s", async (_name, child, code) => {
    const replica = start(child, ["--stop-timeout", "1s"]);
    await replica.prints("up");
    await replica.said("phase", { phase: "leader" });
    expect(replica.family().length).toBeGreaterThan(0);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(ended);
    expect(await replica.said("term-ended")).toMatchObject({ reason: "shutdown", released: true });
  });

  it("a child that daemonises: its daemons are found, also those that its end leaves behind", async () => {
    const replica = start(children.daemonises, ["--stop-timeout", "1s"]);
    await replica.prints("up");
    await expect.poll(() => replica.family().length).toBeGreaterThanOrEqual(3);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(ended);
  });
});

describe("a child that ends by itself", { timeout: 30_000 }, () => {
  it.each([
    ["well", children.endsWell, 0],
    ["badly", children.crashes, 3],
    ["by a signal, after it leaked and left a process behind", children.leaks, 134],
  ])("%s, with --on-exit exit: its exit code is ours", async (_name, child, code) => {
    const replica = start(child, ["--on-exit", "exit"]);
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(ended);
    expect(await replica.said("term-ended")).toMatchObject({ released: true });
  });

  it("and leaves a daemon: that goes as well", async () => {
    const replica = start(children.leavesDaemon, ["--on-exit", "exit"]);
    expect((await replica.exit).survivors).toEqual([]);
  });

  it("at once, again and again: is restarted, then leadership is given up", async () => {
    const replica = start(children.crashes, ["--max-restarts", "2", "--cooldown", "60s"]);
    const { why } = await replica.said("child-gave-up");
    expect(why).toEqual(expect.any(String));
    expect(await replica.said("term-ended")).toMatchObject({ released: true });
    await expect.poll(() => replica.phases().at(-1)).toBe("follower");
    expect(replica.lines.filter(({ event }) => event === "child-started").length).toBe(3);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  });

  it("with --on-exit release: leadership is given up at once", async () => {
    const replica = start(children.endsWell, ["--on-exit", "release", "--cooldown", "60s"]);
    expect(await replica.said("term-ended")).toMatchObject({ released: true });
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.lines.filter(({ event }) => event === "child-started").length).toBe(1);
  });
});

describe("a child that never becomes ready", { timeout: 30_000 }, () => {
  it("costs leadership, and nothing is left of it", async () => {
    const never = ["--ready", `file:${join(world.folder, "never")}`, "--start-timeout", "500ms"];
    const replica = start(children.forksGrandchildren, [...never, "--cooldown", "60s"]);
    expect(await replica.said("term-ended")).toMatchObject({ released: true });
    await expect.poll(() => replica.phases()).toEqual(["follower", "pre-leader", "follower"]);
    expect(replica.family()).toEqual([]);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.phases().at(-1)).toBe("terminating");
  });
});

describe("a child that becomes unhealthy", { timeout: 30_000 }, () => {
  it("is stopped and started again", async () => {
    const health = ["--health", `exec:test ! -e ${join(world.folder, "ill")}`, "--health-period", "100ms"];
    const replica = start(children.obedient, health);
    await replica.said("phase", { phase: "leader" });
    const first = await replica.said("child-started");
    await import("node:fs/promises").then(({ writeFile }) => writeFile(join(world.folder, "ill"), ""));
    await replica.said("child-stopped", { pid: first.pid });
    await rm(join(world.folder, "ill"));
    await replica.said("child-started", { restarts: 1 });
    replica.kill("SIGTERM");
    expect(await replica.exit).toMatchObject({ code: 0, survivors: [] });
  });
});

describe("what a child is given", { timeout: 30_000 }, () => {
  it("who leads, where, with which token and until when", async () => {
    const replica = start(children.printsEnvironment);
    await replica.prints("TENURE_TOKEN=");
    const { token } = await replica.said("leading");
    expect(replica.printed).toEqual(
      expect.arrayContaining([
        "TENURE_IDENTITY=a",
        `TENURE_ELECTION=default/child-${count}`,
        `TENURE_TOKEN=${token}`,
        expect.stringMatching(/^TENURE_DEADLINE_FILE=\//),
      ]),
    );
    replica.kill("SIGTERM");
    expect((await replica.exit).code).toBe(0);
  });

  it("a prefix for its lines", async () => {
    const replica = start(children.obedient, ["--log-prefix", "worker| "]);
    await replica.prints("worker| up");
    replica.kill("SIGTERM");
    expect((await replica.exit).code).toBe(0);
  });
});
