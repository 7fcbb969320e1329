/** `tenure run --once`: of real replicas, one does the work to its end, and the others see that it is done. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as children from "./children.mjs";
import { type Replica, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const world = newWorld();
let count = 0;

interface Task {
  /** Starts a replica that does the work. */
  start(id: string, flags?: readonly string[]): Replica;
  /** What the work wrote: one line at its start and one at its end. */
  log(): string[];
  /** Lets the work end. */
  finish(): void;
}

/** Work that lasts until it is told to finish. */
function newTask({ name = "v1", of = `once-${++count}`, exitCode = 0 } = {}): Task {
  const file = join(world.folder, `${of}-${name}.log`);
  const go = join(world.folder, `${of}-${name}.go`);
  const script = `echo start $TENURE_IDENTITY >> ${file}; until [ -e ${go} ]; do sleep 0.02; done; echo end $TENURE_IDENTITY >> ${file}; exit ${exitCode}`;
  return {
    start: (id, flags = []) =>
      startTenure([
        ...["run", "--kubeconfig", world.kubeconfig, "--lease-lock-name", of, "--id", id, "--once", name],
        ...[...flags, "--", "sh", "-c", script],
      ]),
    log: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []),
    finish: () => writeFileSync(go, ""),
  };
}

/** Expires soon, but not on a busy machine: work whose lease is lost before its record is done again. */
const lease = ["--lease-duration", "6s", "--renew-deadline", "4s", "--retry-period", "500ms"];

const ended = (replicas: readonly Replica[]) => Promise.all(replicas.map(({ exit }) => exit));
const clean = { code: 0, signal: null, survivors: [] };

describe("--once", { timeout: 60_000 }, () => {
  it("one of three replicas does the work, all exit with 0, and one that starts later exits at once", async () => {
    const of = `once-${++count}`;
    const task = newTask({ of });
    const replicas = ["a", "b", "c"].map((id) => task.start(id));
    await expect.poll(() => task.log().length, { timeout: 15_000 }).toBe(1);
    task.finish();
    expect(await ended(replicas)).toEqual([clean, clean, clean]);
    const [worker] = task.log().map((line) => line.split(" ")[1]);
    expect(task.log()).toEqual([`start ${worker}`, `end ${worker}`]);
    const late = task.start("d");
    expect(await late.exit).toEqual(clean);
    expect(late.lines.map(({ event }) => event)).not.toContain("started");
    expect(task.log().length).toBe(2);

    const next = newTask({ of, name: "v2" });
    next.finish();
    expect(await next.start("e").exit).toEqual(clean);
    expect([next.log(), task.log().length]).toEqual([["start e", "end e"], 2]);
  });

  it("after kill -9 in the middle, another replica does the work, and not before the first one's is dead", async () => {
    const task = newTask();
    const first = task.start("a", lease);
    await expect.poll(() => task.log(), { timeout: 15_000 }).toEqual(["start a"]);
    const others = ["b", "c"].map((id) => task.start(id, lease));
    for (const other of others) await other.logged("leader-changed", { leader: "a" });
    first.kill("SIGKILL");
    await expect.poll(() => task.log().length, { timeout: 15_000 }).toBe(2);
    expect(first.descendants()).toEqual([]);
    task.finish();
    expect(await ended(others)).toEqual([clean, clean]);
    const [, worker] = task.log().map((line) => line.split(" ")[1]);
    expect(task.log()).toEqual(["start a", `start ${worker}`, `end ${worker}`]);
  });

  it("work that fails is not done: its replica exits with its code, and another one does it", async () => {
    const of = `once-${++count}`;
    const failing = newTask({ of, exitCode: 3 });
    failing.finish();
    expect(await failing.start("a").exit).toEqual({ ...clean, code: 3 });
    expect(await failing.start("b").exit).toEqual({ ...clean, code: 3 });
    expect(failing.log()).toEqual(["start a", "end a", "start b", "end b"]);
  });

  it("a replica that is stopped before the work is done exits with 4", async () => {
    const task = newTask();
    const first = task.start("a");
    await expect.poll(() => task.log(), { timeout: 15_000 }).toEqual(["start a"]);
    const next = task.start("b");
    await next.logged("leader-changed", { leader: "a" });
    first.kill("SIGTERM");
    expect(await first.exit).toEqual({ ...clean, code: 4 });
    await expect.poll(() => task.log(), { timeout: 15_000 }).toEqual(["start a", "start b"]);
    task.finish();
    expect(await next.exit).toEqual(clean);
  });
});

describe("without an API server", { timeout: 30_000 }, () => {
  const flags = ["run", "--sandbox", "http://127.0.0.1:1", "--lease-lock-name", "x", "--id", "a", "--label"];

  it("a replica of --once that is stopped exits with 4, because the work is not done", async () => {
    const replica = startTenure([...flags, "--once", "v1", "--", ...children.obedient]);
    await replica.logged("started");
    replica.kill("SIGTERM");
    expect(await replica.exit).toEqual({ ...clean, code: 4 });
  });

  it("--wait ends a replica that still prepares its gates", async () => {
    const replica = startTenure([...flags, "--wait", "1s", "--", ...children.obedient]);
    expect(await replica.exit).toEqual({ ...clean, code: 4 });
  });
});

describe("--wait", { timeout: 30_000 }, () => {
  it("a replica that does not become the leader in time exits with 4, and the leader is not affected", async () => {
    const flags = ["run", "--kubeconfig", world.kubeconfig, "--lease-lock-name", `once-${++count}`];
    const leader = startTenure([...flags, "--id", "a", "--wait", "15s", "--", ...children.obedient]);
    await leader.hasPrinted("up");
    const other = startTenure([...flags, "--id", "b", "--wait", "300ms", "--", ...children.obedient]);
    expect(await other.exit).toEqual({ ...clean, code: 4 });
    expect(await other.logged("stopped")).toMatchObject({ msg: "b: did not become the leader within 300ms" });
    expect(other.printed).toEqual([]);
    leader.kill("SIGTERM");
    expect(await leader.exit).toEqual(clean);
  });
});
