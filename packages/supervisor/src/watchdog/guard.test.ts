/** When the watchdog kills and when it goes, in virtual time. */
import { describe, expect, it } from "vitest";
import type { Family } from "../process/family.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Guard } from "./guard.ts";
import type { FromWatchdog } from "./protocol.ts";

function newGuard() {
  const clock = new VirtualClock();
  const told: FromWatchdog[] = [];
  const world = { members: [7] as number[], isImmortal: false, looks: 0, isOver: false, killedAtMs: -1 };
  const removed: string[] = [];
  const groups = new Set<number>();
  const startedMs = clock.now().monoMs;
  const family = {
    addGroup: (group: number) => groups.add(group),
    forgetGroup: (group: number) => groups.delete(group),
    get groups() {
      return [...groups];
    },
    kill: () => {
      const { members } = world;
      world.looks += 1;
      if (members.length > 0) world.killedAtMs = clock.now().monoMs - startedMs;
      if (!world.isImmortal) world.members = [];
      return members;
    },
  } as unknown as Family;
  const guard = new Guard({
    family,
    clock,
    tell: (message) => told.push(message),
    remove: (folder) => removed.push(folder),
    end: () => {
      world.isOver = true;
    },
  });
  /** So long from now, by the monotonic clock, and by the wall clock if that differs. */
  const deadline = (monoMs: number, wallMs = monoMs) => {
    const now = clock.now();
    guard.hear({ type: "deadline", at: { monoMs: now.monoMs + monoMs, wallMs: now.wallMs + wallMs } });
  };
  return { clock, guard, world, told, deadline, groups, removed };
}

describe("Guard", () => {
  it("looks at nothing while all is well", async () => {
    const { clock, world, deadline } = newGuard();
    for (let renewal = 0; renewal < 10; renewal++) {
      deadline(3_000);
      await clock.pass(2_000);
    }
    expect(world.looks).toBe(0);
  });

  it("kills at the deadline, and says so", async () => {
    const { clock, world, deadline, told } = newGuard();
    deadline(3_050);
    await clock.pass(3_049);
    expect(world.killedAtMs).toBe(-1);
    await clock.pass(1);
    expect(world.killedAtMs).toBe(3_050);
    await clock.pass(2_000);
    expect(told).toEqual([{ type: "killed", pids: [7], atMs: 8_050 }]);
    expect(world.isOver).toBe(false);
  });

  it("minds the wall clock too: the machine may have been suspended", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(60_000, 1_000);
    await clock.pass(1_100);
    expect(world.killedAtMs).toBe(1_000);
  });

  it("sees within a quarter of a second that the machine was suspended", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(60_000);
    await clock.pass(100);
    clock.suspend(3_600_000);
    await clock.pass(250);
    expect(world.members).toEqual([]);
  });

  it("goes on looking after the deadline, for a child that is started late", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(1_000);
    await clock.pass(10_000);
    world.members = [8];
    await clock.pass(200);
    expect(world.members).toEqual([]);
  });

  it("stops killing when there is a newer deadline, or nothing to watch over", async () => {
    const { clock, world, deadline, guard } = newGuard();
    deadline(1_000);
    await clock.pass(1_500);
    deadline(5_000);
    await clock.pass(200);
    const { looks } = world;
    await clock.pass(4_000);
    expect(world.looks).toBe(looks);
    guard.hear({ type: "idle" });
    await clock.pass(10_000);
    expect(world.looks).toBe(looks);
    expect(clock.armed).toBe(0);
  });

  it("spares who was started under a newer deadline, and answers when it has heard of that", async () => {
    const { clock, world, deadline, guard, told } = newGuard();
    deadline(1_000);
    await clock.pass(1_500);
    deadline(5_000);
    guard.hear({ type: "ask" });
    expect(told.at(-1)).toEqual({ type: "ready" });
    world.members = [8];
    await clock.pass(2_000);
    expect(world.members).toEqual([8]);
  });

  it("a sooner deadline holds as well as a later one", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(10_000);
    deadline(500);
    await clock.pass(500);
    expect(world.killedAtMs).toBe(500);
  });

  it("kills at once when the supervisor is gone, looks on for who is being born, and goes", async () => {
    const { clock, world, guard } = newGuard();
    void guard.supervisorEnded();
    expect(world.killedAtMs).toBe(0);
    await clock.pass(900);
    world.members = [9];
    expect(world.isOver).toBe(false);
    await clock.pass(2_000);
    expect([world.members, world.isOver]).toEqual([[], true]);
  });

  it("tidies up after a supervisor that is gone, and not after one that says so", async () => {
    const { clock, guard, removed } = newGuard();
    guard.hear({ type: "folder", path: "/tmp/x" });
    void guard.supervisorEnded();
    await clock.pass(2_000);
    expect(removed).toEqual(["/tmp/x"]);
    const other = newGuard();
    other.guard.hear({ type: "folder", path: "/tmp/x" });
    other.guard.hear({ type: "done" });
    expect(other.removed).toEqual([]);
  });

  it("stays as long as somebody does not die, but not for ever", async () => {
    const { clock, world, guard } = newGuard();
    world.isImmortal = true;
    void guard.supervisorEnded();
    await clock.pass(500_000);
    expect(world.isOver).toBe(false);
    await clock.pass(200_000);
    expect(world.isOver).toBe(true);
  });

  it("forgets the groups with the child, and goes when it is told to", () => {
    const { guard, groups, world } = newGuard();
    guard.hear({ type: "group", group: 70 });
    guard.hear({ type: "group", group: 71 });
    guard.hear({ type: "forget", group: 70 });
    expect([...groups]).toEqual([71]);
    guard.hear({ type: "idle" });
    expect([...groups]).toEqual([]);
    guard.hear({ type: "done" });
    expect([world.isOver, world.looks]).toEqual([true, 0]);
  });
});
