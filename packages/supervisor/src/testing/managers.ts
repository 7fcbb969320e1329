/** Process managers for tests with real children. After `endManagers` no process is left. */
import { PassThrough } from "node:stream";
import { systemClock } from "@tenure/base";
import { expect } from "vitest";
import { ownPid, randomId } from "../platform.ts";
import type { ChildCgroup } from "../process/child-cgroup.ts";
import { type ManagerEvent, type ManagerOptions, ProcessManager } from "../process/manager.ts";
import { procTable } from "../process/process-table.ts";
import { markerVariable, ProcessTree } from "../process/process-tree.ts";
import { mentioning, uniqueSeconds } from "./processes.ts";

const managers: ProcessManager[] = [];
/** The numbers of seconds for which the processes of the test sleep. */
export const names: string[] = [];

/** A command that sleeps for a unique number of seconds, by which the test finds its process. */
export function sleeper(): string {
  const seconds = uniqueSeconds();
  names.push(seconds);
  return `sleep ${seconds}`;
}

/** @param cgroup gives the child a control group */
export function newManager(options: Partial<ManagerOptions> = {}, cgroup?: (marker: string) => ChildCgroup) {
  const marker = randomId();
  const events: ManagerEvent[] = [];
  const errors: Error[] = [];
  const stdout = new PassThrough();
  const tree = new ProcessTree({
    marker,
    table: procTable(),
    clock: systemClock,
    supervisor: ownPid,
    excluded: () => [],
    ...(cgroup && { cgroup: cgroup(marker) }),
  });
  const manager = new ProcessManager({
    tree,
    clock: systemClock,
    channels: { lines: false, ipc: false, fd: undefined },
    logPrefix: undefined,
    stdout,
    stderr: stdout,
    ownStdout: stdout,
    ownStderr: stdout,
    onEvent: (event) => events.push(event),
    onError: (error) => errors.push(error),
    ...options,
  });
  managers.push(manager);
  const shell = (script: string) => ({
    command: "sh",
    args: ["-c", script],
    env: { PATH: process.env.PATH, [markerVariable]: `${marker}.1` },
    cwd: undefined,
  });
  return { manager, marker, tree, events, errors, shell, stdout };
}

export async function endManagers(): Promise<void> {
  await Promise.all(managers.splice(0).map((manager) => manager.stop(0)));
  expect(names.splice(0).flatMap((name) => mentioning(name))).toEqual([]);
}
