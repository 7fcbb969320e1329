import { afterEach, expect, it } from "vitest";
import { ProcessManager } from "./process-manager.ts";
import { mentioning, sleepers, uniqueSeconds, until } from "./testing/processes.ts";

const managers: ProcessManager[] = [];

function newManager() {
  const events: string[] = [];
  const manager = new ProcessManager({ onEvent: ({ type }) => events.push(type) });
  managers.push(manager);
  return { manager, events };
}

afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.stop(0)));
});

it("starts a process, and stops it with all its descendants", async () => {
  const { manager, events } = newManager();
  const name = uniqueSeconds();
  const program = { command: "sh", args: ["-c", `setsid sleep ${name} & sleep ${name}`] };
  expect([manager.state, manager.isRunning(), manager.pid]).toEqual(["stopped", false, undefined]);
  const { pid } = await manager.start(program);
  expect([manager.state, manager.isRunning(), manager.pid]).toEqual(["running", true, pid]);
  await until(() => sleepers(name).length === 2);
  const stopped = await manager.stop(5_000);
  expect(stopped?.killed).toBe(false);
  expect([manager.state, manager.isRunning()]).toEqual(["stopped", false]);
  expect(mentioning(name)).toEqual([]);
  expect(events).toEqual(["stopping", "exited", "stopped"]);
});

it("may be called in every state, and repeatedly", async () => {
  const { manager } = newManager();
  expect(await manager.stop(0)).toBeUndefined();
  expect(await manager.wait()).toBeUndefined();
  manager.signal("SIGHUP");
  const name = uniqueSeconds();
  const program = { command: "sh", args: ["-c", `trap '' TERM; exec sleep ${name}`] };
  const [first, second] = await Promise.all([manager.start(program), manager.start(program)]);
  expect(second.pid).toBe(first.pid);
  // Now it ignores SIGTERM.
  await until(() => sleepers(name).length === 1);
  const waited = manager.wait();
  const stops = [manager.stop(60_000), manager.stop(100), manager.stop(60_000)];
  await expect(manager.start(program)).rejects.toThrow(/still being stopped/);
  expect(new Set(await Promise.all([waited, ...stops])).size).toBe(1);
  expect(await waited).toMatchObject({ killed: true });
  expect((await manager.start(program)).pid).not.toBe(first.pid);
});

it("rejects a program that does not exist, and can start another one", async () => {
  const { manager } = newManager();
  await expect(manager.start({ command: "/no/such/program" })).rejects.toMatchObject({ code: "SpawnFailed" });
  expect(manager.state).toBe("stopped");
  await manager.start({ command: "true" });
  expect(await manager.wait()).toMatchObject({ exit: { code: 0 } });
});
