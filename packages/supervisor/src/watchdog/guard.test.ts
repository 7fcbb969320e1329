import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import type { ProcessTree } from "../process/process-tree.ts";
import { Guard } from "./guard.ts";
import type { FromWatchdog } from "./protocol.ts";

function newGuard() {
  const clock = new VirtualClock();
  const sent: FromWatchdog[] = [];
  const world = { members: [7] as number[], isImmortal: false, scans: 0, hasExited: false, killedAtMs: -1 };
  const removed: string[] = [];
  const groups = new Set<number>();
  const startedMs = clock.now().monoMs;
  const tree = {
    addGroup: (group: number) => groups.add(group),
    forgetGroup: (group: number) => groups.delete(group),
    get groups() {
      return [...groups];
    },
    kill: () => {
      const { members } = world;
      world.scans += 1;
      if (members.length > 0) world.killedAtMs = clock.now().monoMs - startedMs;
      if (!world.isImmortal) world.members = [];
      return members;
    },
  } as unknown as ProcessTree;
  const guard = new Guard({
    tree,
    clock,
    send: (message) => sent.push(message),
    remove: (path) => removed.push(path),
    exit: () => {
      world.hasExited = true;
    },
  });
  /** Sends a deadline this far from now on the monotonic clock, and on the wall clock. */
  const deadline = (monoMs: number, wallMs = monoMs) => {
    const now = clock.now();
    guard.onMessage({ type: "deadline", at: { monoMs: now.monoMs + monoMs, wallMs: now.wallMs + wallMs } });
  };
  return { clock, guard, world, sent, deadline, groups, removed };
}

describe("Guard", () => {
  it("does not scan while the deadline is renewed in time", async () => {
    const { clock, world, deadline } = newGuard();
    for (let renewal = 0; renewal < 10; renewal++) {
      deadline(3_000);
      await clock.pass(2_000);
    }
    expect(world.scans).toBe(0);
  });

  it("kills at the deadline, and reports it", async () => {
    const { clock, world, deadline, sent } = newGuard();
    deadline(3_050);
    await clock.pass(3_049);
    expect(world.killedAtMs).toBe(-1);
    await clock.pass(1);
    expect(world.killedAtMs).toBe(3_050);
    await clock.pass(2_000);
    expect(sent).toEqual([{ type: "killed", pids: [7], atMs: 8_050 }]);
    expect(world.hasExited).toBe(false);
  });

  it("kills if the deadline passes on the wall clock only", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(60_000, 1_000);
    await clock.pass(1_100);
    expect(world.killedAtMs).toBe(1_000);
  });

  it("notices within 250 ms that the machine was suspended", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(60_000);
    await clock.pass(100);
    clock.suspend(3_600_000);
    await clock.pass(250);
    expect(world.members).toEqual([]);
  });

  it("keeps killing after the deadline, in case a child is started late", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(1_000);
    await clock.pass(10_000);
    world.members = [8];
    await clock.pass(200);
    expect(world.members).toEqual([]);
  });

  it("stops killing when there is a newer deadline or nothing to guard", async () => {
    const { clock, world, deadline, guard } = newGuard();
    deadline(1_000);
    await clock.pass(1_500);
    deadline(5_000);
    await clock.pass(200);
    const { scans } = world;
    await clock.pass(4_000);
    expect(world.scans).toBe(scans);
    guard.onMessage({ type: "no-deadline" });
    await clock.pass(10_000);
    expect(world.scans).toBe(scans);
    expect(clock.armed).toBe(0);
  });

  it("does not kill a child that is started after it acknowledged a newer deadline", async () => {
    const { clock, world, deadline, guard, sent } = newGuard();
    deadline(1_000);
    await clock.pass(1_500);
    deadline(5_000);
    guard.onMessage({ type: "ask", question: 3 });
    expect(sent.at(-1)).toEqual({ type: "answer", question: 3 });
    world.members = [8];
    await clock.pass(2_000);
    expect(world.members).toEqual([8]);
  });

  it("accepts a newer deadline that is earlier", async () => {
    const { clock, world, deadline } = newGuard();
    deadline(10_000);
    deadline(500);
    await clock.pass(500);
    expect(world.killedAtMs).toBe(500);
  });

  it("kills at once when the supervisor has ended, keeps killing for a second, and exits", async () => {
    const { clock, world, guard } = newGuard();
    void guard.onSupervisorEnd();
    expect(world.killedAtMs).toBe(0);
    await clock.pass(900);
    world.members = [9];
    expect(world.hasExited).toBe(false);
    await clock.pass(2_000);
    expect([world.members, world.hasExited]).toEqual([[], true]);
  });

  it("removes the folder if the supervisor died, but not if it ended properly", async () => {
    const { clock, guard, removed } = newGuard();
    guard.onMessage({ type: "folder", path: "/tmp/x" });
    void guard.onSupervisorEnd();
    await clock.pass(2_000);
    expect(removed).toEqual(["/tmp/x"]);
    const other = newGuard();
    other.guard.onMessage({ type: "folder", path: "/tmp/x" });
    other.guard.onMessage({ type: "done" });
    expect(other.removed).toEqual([]);
  });

  it("stays while a process does not die, for ten minutes at most", async () => {
    const { clock, world, guard } = newGuard();
    world.isImmortal = true;
    void guard.onSupervisorEnd();
    await clock.pass(500_000);
    expect(world.hasExited).toBe(false);
    await clock.pass(200_000);
    expect(world.hasExited).toBe(true);
  });

  it("removes the files of the term when it kills or when the supervisor has ended, but not before", async () => {
    const { clock, guard, removed, deadline } = newGuard();
    guard.onMessage({ type: "files", paths: ["/tmp/ready"] });
    deadline(1_000);
    await clock.pass(999);
    expect(removed).toEqual([]);
    await clock.pass(1);
    expect(removed).toEqual(["/tmp/ready"]);
    const other = newGuard();
    other.guard.onMessage({ type: "files", paths: ["/tmp/ready"] });
    void other.guard.onSupervisorEnd();
    expect(other.removed).toEqual(["/tmp/ready"]);
  });

  it("removes the files again if a supervisor that resumes writes them after the deadline", async () => {
    const { clock, guard, removed, deadline } = newGuard();
    guard.onMessage({ type: "files", paths: ["/tmp/ready"] });
    deadline(1_000);
    await clock.pass(5_000);
    expect(removed.length).toBeGreaterThan(2);
  });

  it("forgets groups that are empty, and exits when it gets the message", () => {
    const { guard, groups, world } = newGuard();
    guard.onMessage({ type: "group", group: 70 });
    guard.onMessage({ type: "group", group: 71 });
    guard.onMessage({ type: "forget", group: 70 });
    guard.onMessage({ type: "no-deadline" });
    expect([...groups]).toEqual([71]);
    guard.onMessage({ type: "done" });
    expect([world.hasExited, world.scans]).toEqual([true, 0]);
  });
});
