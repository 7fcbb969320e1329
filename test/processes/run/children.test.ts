/** The built command with children of every kind: no process survives, and the exit code and the phases are right. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as children from "./children.mjs";
import { type Replica, startTenure } from "./replicas.ts";
import { watchdogsOf } from "./survivors.mjs";
import { newWorld } from "./world.ts";

const world = newWorld();
let count = 0;

/** Each replica takes part in its own election. */
function start(child: readonly string[], flags: readonly string[] = []): Replica {
  const name = `child-${++count}`;
  const election = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", name, "--id", "a"];
  return startTenure(["run", ...election, ...flags, "--", ...child]);
}

const led = ["follower", "pre-leader", "leader"];
const ended = [...led, "terminating"];

describe("SIGTERM to the leader", { timeout: 30_000 }, () => {
  it.each([
    ["obeys", children.obedient, 0],
    ["takes a while", children.slowToStop(0.3), 0],
    ["ignores SIGTERM", children.ignoresSigterm, 1],
    ["forks grandchildren", children.forksGrandchildren, 0],
    ["floods stdout", children.floods, 0],
    ["blocks for a minute", children.blocks, 1],
  ])("stops a child that %s", async (_name, child, code) => {
    const replica = start(child, ["--stop-timeout", "1s"]);
    await replica.hasPrinted("up");
    await replica.logged("phase", { phase: "leader" });
    expect(replica.descendants().length).toBeGreaterThan(0);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(ended);
    expect(await replica.logged("term-ended")).toMatchObject({ reason: "shutdown", released: true });
  });

  it("stops a child that daemonises, and its daemons", async () => {
    const replica = start(children.daemonises, ["--stop-timeout", "1s"]);
    await replica.hasPrinted("up");
    await expect.poll(() => replica.descendants().length).toBeGreaterThanOrEqual(3);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(ended);
  });
});

describe("a child that exits by itself", { timeout: 30_000 }, () => {
  it.each([
    ["with code 0", children.endsWell, 0],
    ["with code 3", children.crashes, 3],
    ["by a signal, and leaves a process behind", children.leaks, 134],
  ])("%s, with --on-exit exit: tenure exits with the same code", async (_name, child, code) => {
    const replica = start(child, ["--on-exit", "exit"]);
    expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
    expect(replica.phases()).toEqual(ended);
    expect(await replica.logged("term-ended")).toMatchObject({ released: true });
  });

  it("and leaves a daemon: the daemon is killed", async () => {
    const replica = start(children.leavesDaemon, ["--on-exit", "exit"]);
    expect((await replica.exit).survivors).toEqual([]);
  });

  it("repeatedly is restarted, then the replica gives up leadership", async () => {
    const replica = start(children.crashes, ["--max-restarts", "2", "--cooldown", "60s"]);
    const { why } = await replica.logged("child-gave-up");
    expect(why).toEqual(expect.any(String));
    expect(await replica.logged("term-ended")).toMatchObject({ released: true });
    await expect.poll(() => replica.phases().at(-1)).toBe("follower");
    expect(replica.lines.filter(({ event }) => event === "child-started").length).toBe(3);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
  });

  it("with --on-exit release: the lease is released at once", async () => {
    const replica = start(children.endsWell, ["--on-exit", "release", "--cooldown", "60s"]);
    expect(await replica.logged("term-ended")).toMatchObject({ released: true });
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.lines.filter(({ event }) => event === "child-started").length).toBe(1);
  });
});

describe("a child that never becomes ready", { timeout: 30_000 }, () => {
  it("makes the replica give up leadership, and leaves no process", async () => {
    const never = ["--ready", `file:${join(world.folder, "never")}`, "--start-timeout", "500ms"];
    const replica = start(children.forksGrandchildren, [...never, "--cooldown", "60s"]);
    expect(await replica.logged("term-ended")).toMatchObject({ released: true });
    await expect.poll(() => replica.phases()).toEqual(["follower", "pre-leader", "follower"]);
    expect(replica.descendants()).toEqual([]);
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ code: 0, signal: null, survivors: [] });
    expect(replica.phases().at(-1)).toBe("terminating");
  });
});

describe("a child that becomes unhealthy", { timeout: 30_000 }, () => {
  it("is restarted", async () => {
    const health = ["--health", `exec:test ! -e ${join(world.folder, "ill")}`, "--health-period", "100ms"];
    const replica = start(children.obedient, health);
    await replica.logged("phase", { phase: "leader" });
    const first = await replica.logged("child-started");
    await import("node:fs/promises").then(({ writeFile }) => writeFile(join(world.folder, "ill"), ""));
    await replica.logged("child-stopped", { pid: first.pid });
    await rm(join(world.folder, "ill"));
    await replica.logged("child-started", { restarts: 1 });
    replica.kill("SIGTERM");
    expect(await replica.exit).toMatchObject({ code: 0, survivors: [] });
  });
});

describe("a child gets", { timeout: 30_000 }, () => {
  it("the identity, the election, the token and the deadline file", async () => {
    const replica = start(children.printsEnvironment);
    await replica.hasPrinted("TENURE_TOKEN=");
    const { token } = await replica.logged("leading");
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

  it("a prefix for its output", async () => {
    const replica = start(children.obedient, ["--log-prefix", "worker| "]);
    await replica.hasPrinted("worker| up");
    replica.kill("SIGTERM");
    expect((await replica.exit).code).toBe(0);
  });
});

it("that is killed while it starts leaves no watchdog behind", async () => {
  const replica = start(children.obedient);
  await expect.poll(() => watchdogsOf(replica.pid), { interval: 1, timeout: 15_000 }).toHaveLength(1);
  replica.kill("SIGKILL");
  await replica.exit;
  await expect.poll(() => watchdogsOf(replica.pid), { timeout: 15_000 }).toEqual([]);
});

it.each([
  ["a flag that does not exist", ["--lease-lock-nam", "x"], 2],
  ["a value that is not possible", ["--lease-lock-name", "x", "--stop-timeout", "soon"], 2],
  ["a command that does not exist", ["--lease-lock-name", "x"], 127],
  ["a share of the work", ["--lease-lock-name", "x", "--shards", "none"], 2],
])("%s ends it without a process left", async (_what, flags, code) => {
  const replica = startTenure(["run", "--kubeconfig", world.kubeconfig, ...flags, "--", "no-such-program"]);
  expect(await replica.exit).toEqual({ code, signal: null, survivors: [] });
});
