/** What the machine remembers about a run, which the histories in testdata do not show. */
import { describe, expect, it } from "vitest";
import { World } from "../model/world.ts";

/** A world whose child is ready. */
function leading(options: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World(options);
  world.send({ type: "start" });
  world.win(600_000);
  const { child } = world.state;
  world.send({ type: "child-ready", id: child.name === "running" ? child.id : 0 });
  return world;
}

describe("whether a child had to be killed", () => {
  it("counts while the run ends", () => {
    const world = leading();
    world.send({ type: "terminate" });
    world.pass(25_000);
    expect(world.state).toMatchObject({ wasKilled: true, term: undefined, child: { name: "none" } });
  });

  it("does not count in an earlier term", () => {
    const world = leading();
    world.send({ type: "term-ending" });
    world.pass(25_000);
    expect(world.state.term).toBeUndefined();
    world.send({ type: "terminate" });
    expect(world.state.wasKilled).toBe(false);
  });
});

describe("the end of the child that ended the run", () => {
  it("is its exit, with onExit exit", () => {
    const world = leading({ onExit: "exit" });
    world.exit({ code: 3, signal: undefined });
    expect(world.state.endedBy).toMatchObject({ type: "exited", exit: { code: 3 } });
  });

  it("is absent if it was asked to stop", () => {
    const world = leading({ onExit: "exit" });
    world.send({ type: "terminate" });
    world.exit({ code: 3, signal: undefined });
    expect(world.state.endedBy).toBeUndefined();
  });
});

describe("restarts", () => {
  it("are counted in each term", () => {
    const world = leading();
    world.exit({ code: 1, signal: undefined });
    world.exit({ code: 1, signal: undefined });
    expect(world.state.restarts).toBe(2);
    world.send({ type: "term-ending" });
    expect(world.state.restarts).toBe(2);
    world.win(60_000);
    expect(world.state.restarts).toBe(0);
  });
});

describe("the watchdog", () => {
  it("was last heard at its last answer", () => {
    const world = leading();
    world.pass(1_000);
    world.renew(600_000);
    expect(world.state.watchdog).toMatchObject({ name: "ready", heardMs: 1_000 });
    world.held.add("watchdog");
    world.pass(3_000);
    world.renew(600_000);
    expect(world.state.watchdog).toMatchObject({ name: "ready", heardMs: 1_000 });
  });

  it.each(["SIGKILL", undefined] as const)("is blamed only if this process did not kill: %s", (signal) => {
    const world = leading();
    const { effects } = { effects: world.log };
    const before = effects.length;
    if (signal) world.send({ type: "child-killing" });
    world.send({ type: "watchdog-killed", pids: [7], sinceMs: world.monoMs - (signal ? 20 : 0) });
    const reports = effects.slice(before).filter(({ effect }) => effect.type === "report");
    expect(reports).toHaveLength(signal ? 0 : 1);
  });
});
