/** A built supervisor in its own process that is killed, frozen or blocked. The process tree of its child must not outlive it. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { sendSignal } from "../../../packages/supervisor/src/platform.ts";
import {
  type Host,
  hardDeadlineMs,
  isReady,
  longTimings,
  renewDeadlineMs,
  shortTimings,
  startHost,
} from "../../../packages/supervisor/src/testing/host.ts";
import {
  mentioning,
  pidsOf,
  sleepers,
  uniqueSeconds,
  until,
} from "../../../packages/supervisor/src/testing/processes.ts";

const hosts: Host[] = [];

/** A child that ignores SIGTERM, with descendants: one in its group, a daemon, and one with an empty environment. */
function tree(): { name: string; supervisor: object } {
  const name = uniqueSeconds();
  const script =
    `trap '' TERM; sleep ${name} & setsid sh -c '(sleep ${name} &)'; setsid sleep ${name} & ` +
    `env -i /bin/sh -c 'sleep ${name} & wait' & echo up; while :; do sleep ${name}; done`;
  return { name, supervisor: { command: "sh", args: ["-c", script], ready: "log:up", stopTimeoutMs: 500 } };
}

async function startTree(extra: object = {}, election: object = shortTimings) {
  const { name, supervisor } = tree();
  const host = startHost({ ...supervisor, ...extra }, election);
  hosts.push(host);
  await host.event(isReady);
  await until(() => sleepers(name).length === 5);
  return { name, host };
}

/** The pids of the watchdogs of a supervisor. */
function watchdogsOf({ pid }: Host): number[] {
  return pidsOf(`tenure-watchdog of ${pid}`);
}

afterEach(async () => {
  for (const host of hosts.splice(0)) {
    sendSignal(host.pid, "SIGKILL");
    await host.exitCode;
    await until(() => watchdogsOf(host).length === 0);
  }
});

describe("a supervisor that dies", () => {
  it.each(["SIGKILL", "SIGSEGV"] as const)(
    "%s: the whole tree dies with it, long before its deadline",
    async (signal) => {
      const { name, host } = await startTree({}, longTimings);
      sendSignal(host.pid, signal);
      await until(() => mentioning(name).length === 0);
    },
  );

  it("right after it started its child leaves no process", async () => {
    const { name, supervisor } = tree();
    const host = startHost({ ...supervisor, ready: "spawn" }, longTimings);
    hosts.push(host);
    await host.event(({ type }) => type === "started");
    sendSignal(host.pid, "SIGKILL");
    await host.exitCode;
    await until(() => watchdogsOf(host).length === 0);
    expect(mentioning(name)).toEqual([]);
  });
});

describe("a supervisor that does not run", () => {
  it("because of SIGSTOP: the tree is dead before the hard deadline, and the supervisor reports it when it resumes", async () => {
    const { name, host } = await startTree();
    // A fresh renewal: a term that is about to be lost would be stopped by the supervisor itself.
    const readyMs = Date.now();
    await host.event(({ event, atMs }) => event === "renewed" && atMs > readyMs);
    const frozenMs = Date.now();
    sendSignal(host.pid, "SIGSTOP");
    await until(() => mentioning(name).length === 0);
    // The last renewal was before the freeze, so the hard deadline is less than this away.
    expect(Date.now() - frozenMs).toBeLessThan(hardDeadlineMs);
    // Frozen between a renewal and the message to the watchdog, it would wake up while its term can still be renewed.
    await until(() => Date.now() - frozenMs > renewDeadlineMs);
    sendSignal(host.pid, "SIGCONT");
    await host.event(({ code }) => code === "KilledByWatchdog");
    const ended = await host.event(({ event }) => event === "term-ended");
    // The supervisor or the election notices first. The child is dead by then, so a release is right too.
    expect(["renew-deadline", "work-ended"]).toContain(ended.reason);
    // It takes part in the election again, and there is no other candidate.
    await until(() => host.events.filter(isReady).length === 2);
  });

  it("because its event loop is blocked: the tree is dead before the hard deadline", async () => {
    const { name, host } = await startTree();
    sendSignal(host.pid, "SIGUSR1");
    await host.event(({ event }) => event === "blocked");
    await until(() => mentioning(name).length === 0, hardDeadlineMs);
  });
});

describe("a watchdog", () => {
  it("that dies is replaced at once by one that can kill the tree", async () => {
    const { name, host } = await startTree({}, longTimings);
    const [first = 0] = watchdogsOf(host);
    sendSignal(first, "SIGKILL");
    await host.event(({ code }) => code === "Unguarded");
    await until(() => watchdogsOf(host).some((pid) => pid !== first));
    sendSignal(host.pid, "SIGKILL");
    await until(() => mentioning(name).length === 0);
  });

  it("that is stopped is replaced within one lease by one that can kill the tree", async () => {
    const { name, host } = await startTree({}, { ...shortTimings, renewDeadline: "9s" });
    const [first = 0] = watchdogsOf(host);
    const stoppedMs = Date.now();
    sendSignal(first, "SIGSTOP");
    const replaced = await host.event(({ code }) => code === "Unguarded");
    expect(replaced.message).toMatch(/did not answer/);
    expect(replaced.atMs - stoppedMs).toBeLessThan(hardDeadlineMs);
    await until(() => watchdogsOf(host).some((pid) => pid !== first));
    expect(watchdogsOf(host)).not.toContain(first);
    expect(sleepers(name)).toHaveLength(5);
    sendSignal(host.pid, "SIGKILL");
    await until(() => mentioning(name).length === 0);
  });

  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "removes the ready file of a supervisor after %s",
    async (signal) => {
      const folder = mkdtempSync(join(tmpdir(), "tenure-test-"));
      const readyFile = join(folder, "ready");
      const { name, host } = await startTree(
        { readyFile },
        signal === "SIGKILL" ? longTimings : shortTimings,
      );
      await until(() => existsSync(readyFile));
      sendSignal(host.pid, signal);
      await until(() => mentioning(name).length === 0 && !existsSync(readyFile));
      rmSync(folder, { recursive: true });
    },
  );

  it("ignores the signals that stop a service, and exits with its supervisor", async () => {
    const { host } = await startTree();
    const [watchdog = 0] = watchdogsOf(host);
    const sentMs = Date.now();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) sendSignal(watchdog, signal);
    await host.event(({ event, atMs }) => event === "renewed" && atMs > sentMs);
    expect(watchdogsOf(host)).toEqual([watchdog]);
    sendSignal(host.pid, "SIGTERM");
    expect(await host.exitCode).toBe(1);
    expect(host.events.filter(({ code }) => code === "Unguarded")).toEqual([]);
    expect(watchdogsOf(host)).toEqual([]);
  });
});

describe("a supervisor that lost its term", () => {
  it("kills the tree before the hard deadline, and does not release the lease", async () => {
    const { name, host } = await startTree();
    sendSignal(host.pid, "SIGUSR2");
    const lost = await host.event(({ event }) => event === "lost");
    // On a busy machine the watchdog may kill first.
    const stopped = await host.event(({ type }) => type === "stopped");
    expect(mentioning(name)).toEqual([]);
    expect(stopped.atMs - lost.atMs).toBeLessThan(lost.remainingMs ?? 0);
    expect(await host.event(({ event }) => event === "term-ended")).toMatchObject({ released: false });
    expect(host.phases()).toEqual(["pre-leader", "leader", "pre-follower", "follower"]);
  });

  it("while its child was stopping on purpose kills the tree before the hard deadline too", async () => {
    const { name, host } = await startTree({ stopTimeoutMs: 60_000 });
    sendSignal(host.pid, "SIGTERM");
    await host.event(({ type }) => type === "stopping");
    sendSignal(host.pid, "SIGUSR2");
    const lost = await host.event(({ event }) => event === "lost");
    // On a busy machine the watchdog may kill first.
    const stopped = await host.event(({ type }) => type === "stopped");
    expect(mentioning(name)).toEqual([]);
    expect(stopped.atMs - lost.atMs).toBeLessThan(lost.remainingMs ?? 0);
    expect(await host.exitCode).toBe(1);
    expect(host.events.filter(({ event }) => event === "released")).toEqual([]);
  });
});
