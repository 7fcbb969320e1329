import { describe, expect, it } from "vitest";
import type { ChildCgroup } from "./child-cgroup.ts";
import type { ProcessRow } from "./process-table.ts";
import { ProcessTree } from "./process-tree.ts";

interface FakeProcess {
  readonly pid: number;
  readonly parent?: number;
  readonly group?: number;
  readonly session?: number;
  readonly started?: number;
  readonly env?: string;
  readonly name?: string;
}

/** A machine with these processes. Pid 1 is init, 100 the supervisor, 101 its watchdog. */
function newMachine(
  processes: readonly FakeProcess[],
  {
    supervisor = 100,
    hasProc = true,
    cgroup,
  }: { supervisor?: number; hasProc?: boolean; cgroup?: ChildCgroup } = {},
) {
  const machine = {
    processes: [
      { pid: 1, parent: 0, session: 1 },
      { pid: 50, parent: 1, session: 50 },
      { pid: 100, parent: 50, session: 50 },
      { pid: 101, parent: supervisor, session: 101 },
      ...processes,
    ] as readonly FakeProcess[],
    sent: [] as string[],
    /** The pids of which each scan read more than that they run. */
    reads: [] as number[][],
    monoMs: 0,
    /** How long this process is frozen before it reads the process table. */
    frozenMs: 1_000,
  };
  const tree = new ProcessTree({
    marker: "mark",
    supervisor,
    excluded: () => [101],
    ...(cgroup && { cgroup }),
    clock: { now: () => ({ monoMs: machine.monoMs, wallMs: 0 }) },
    table: {
      read: (known) => {
        if (!hasProc) return undefined;
        machine.monoMs += machine.frozenMs;
        machine.reads.push([]);
        return machine.processes.map(
          ({ pid, parent = 1, group = pid, session = pid, started = 1, name = "sh" }): ProcessRow => {
            const row = known?.get(pid);
            if (row) return row;
            machine.reads.at(-1)?.push(pid);
            return { pid, parent, group, session, started, name };
          },
        );
      },
      environmentOf: (pid) =>
        Buffer.from(machine.processes.find((process) => process.pid === pid)?.env ?? ""),
    },
    send: (pid, signal) => {
      machine.sent.push(`${signal} ${pid}`);
      return machine.processes.some(({ group, pid: own }) => pid === -(group ?? own)) ? "sent" : "gone";
    },
  });
  tree.addGroup(200);
  return { tree, machine };
}

describe("ProcessTree", () => {
  it("contains the group and the session of the child, and no other process", () => {
    const { tree } = newMachine([
      { pid: 200, parent: 100 },
      { pid: 201, parent: 200, group: 200, session: 200 },
      { pid: 202, parent: 1, group: 202, session: 200 },
      { pid: 300, parent: 1 },
      { pid: 301, parent: 100, session: 50 },
    ]);
    expect(tree.find()).toEqual([200, 201, 202]);
  });

  it("contains processes with the marker anywhere, and their children without it", () => {
    const { tree } = newMachine([
      { pid: 400, parent: 1, env: "A=b\0TENURE_CHILD_MARKER=outer mark.1\0" },
      { pid: 401, parent: 400 },
      { pid: 402, parent: 401 },
      { pid: 403, parent: 1, env: "TENURE_CHILD_MARKER=another" },
    ]);
    expect(tree.find()).toEqual([400, 401, 402]);
  });

  it("contains an orphan that an earlier scan found, but not a later process with the same pid", () => {
    const { tree, machine } = newMachine([{ pid: 200 }, { pid: 201, parent: 200 }]);
    expect(tree.find()).toEqual([200, 201]);
    machine.processes = [{ pid: 201, parent: 1 }];
    expect(tree.find()).toEqual([201]);
    machine.processes = [{ pid: 201, parent: 1, started: 2 }];
    expect(tree.find()).toEqual([]);
  });

  it("contains the whole session of a process with the marker, even after that process has died", () => {
    const { tree, machine } = newMachine([
      { pid: 400, parent: 1, group: 400, session: 400, env: "mark" },
      { pid: 401, parent: 1, group: 401, session: 400 },
    ]);
    expect(tree.find()).toEqual([400, 401]);
    machine.processes = [{ pid: 402, parent: 1, group: 400, session: 400 }];
    expect(tree.find()).toEqual([402]);
    machine.processes = [];
    expect(tree.find()).toEqual([]);
    // A later session with the same number.
    machine.processes = [{ pid: 400, parent: 1, started: 9 }];
    expect(tree.find()).toEqual([]);
  });

  it("does not contain the session of the supervisor, even if a process in it has the marker", () => {
    const { tree } = newMachine([
      { pid: 400, parent: 100, session: 50, env: "mark" },
      { pid: 401, parent: 100, session: 50 },
    ]);
    expect(tree.find()).toEqual([400]);
  });

  it("contains orphans that were reparented to a supervisor with PID 1, but not the processes of its own session", () => {
    const orphans = [
      { pid: 500, parent: 1, session: 500 },
      { pid: 501, parent: 1, session: 1 },
      { pid: 502, parent: 0, session: 502 },
    ];
    const { tree } = newMachine(orphans, { supervisor: 1 });
    // On that machine, 50 and 100 are orphans too.
    expect(tree.find().sort()).toEqual([100, 50, 500]);
    expect(newMachine(orphans).tree.find()).toEqual([]);
  });

  describe("under an init", () => {
    /** Pid 50 is the supervisor, which PID 1 started. */
    const underInit = (name: string) => {
      const { tree, machine } = newMachine([], { supervisor: 50 });
      machine.processes = [
        { pid: 1, parent: 0, session: 1, name },
        { pid: 50, parent: 1, session: 1, started: 5 },
        { pid: 500, parent: 1, started: 6 },
        { pid: 501, parent: 1, session: 1, started: 6 },
        { pid: 502, parent: 0, started: 6 },
        { pid: 503, parent: 1, started: 4 },
        { pid: 504, parent: 502, started: 6 },
      ];
      return tree;
    };

    it.each(["tini", "docker-init", "dumb-init", "catatonit"])(
      "of a container (%s), contains orphans that were reparented to it",
      (name) => expect(underInit(name).find()).toEqual([500]),
    );

    it.each(["systemd", "init", "pause", "bash"])(
      "that others use too (%s), contains no process that cannot be told from theirs",
      (name) => expect(underInit(name).find()).toEqual([]),
    );

    it("contains the orphans even after the supervisor has died", () => {
      const { tree, machine } = newMachine([], { supervisor: 50 });
      const init = { pid: 1, parent: 0, session: 1, name: "tini" };
      machine.processes = [init, { pid: 50, parent: 1, session: 1 }];
      expect(tree.find()).toEqual([]);
      machine.processes = [init, { pid: 500, parent: 1 }];
      expect(tree.find()).toEqual([500]);
    });
  });

  it("contains and kills the control group of the child", () => {
    const calls: string[] = [];
    const cgroup = {
      add: async (child: number, find: () => readonly number[]) => void calls.push(`add ${child}: ${find()}`),
      members: () => [600, 601],
      kill: () => calls.push("kill"),
      remove: () => calls.push("remove"),
    };
    const { tree } = newMachine([{ pid: 600, started: 9 }], { cgroup });
    void tree.confine(600);
    // 601 is a zombie, which the process table leaves out.
    expect(tree.find()).toEqual([600]);
    tree.kill();
    tree.removeCgroup();
    expect(calls).toEqual(["add 600: 600", "kill", "remove"]);
  });

  it("never contains the supervisor, its ancestors or the watchdog, even with the marker", () => {
    const { tree, machine } = newMachine([]);
    machine.processes = machine.processes.map((process) => ({ ...process, env: "mark" }));
    expect(tree.find()).toEqual([]);
  });

  it("ignores the environment of processes that are older than the supervisor", () => {
    const { tree } = newMachine([
      { pid: 400, env: "mark", started: 0 },
      { pid: 401, env: "mark", started: 1 },
    ]);
    expect(tree.find()).toEqual([401]);
  });

  it("signals groups as a whole and other processes one by one", () => {
    const { tree, machine } = newMachine([{ pid: 200 }, { pid: 201, group: 200 }, { pid: 400, env: "mark" }]);
    tree.signal("SIGTERM", "SIGCONT");
    expect(machine.sent).toEqual(["SIGTERM -200", "SIGTERM 400", "SIGCONT -200", "SIGCONT 400"]);
  });

  it("stops all processes before it kills the first", () => {
    const { tree, machine } = newMachine([
      { pid: 400, env: "mark" },
      { pid: 401, env: "mark" },
    ]);
    expect(tree.kill()).toEqual([400, 401]);
    expect(machine.sent).toEqual([
      "SIGKILL -200",
      "SIGKILL -400",
      "SIGKILL -401",
      "SIGSTOP 400",
      "SIGSTOP 401",
      "SIGKILL 400",
      "SIGKILL 401",
    ]);
  });

  it("reads only its own and new processes soon after a scan of all", () => {
    const { tree, machine } = newMachine([{ pid: 200 }, { pid: 300 }]);
    machine.frozenMs = 0;
    expect(tree.find()).toEqual([200]);
    machine.processes = [...machine.processes, { pid: 201, env: "mark" }, { pid: 301 }];
    expect(tree.find()).toEqual([200, 201]);
    expect(machine.reads.at(-1)).toEqual([200, 201, 301]);
  });

  it("reads all processes again if it was frozen since, or kills", () => {
    const { tree, machine } = newMachine([{ pid: 200 }, { pid: 300 }]);
    tree.find();
    machine.processes = [{ pid: 300, env: "mark" }];
    expect(tree.find()).toEqual([300]);
    machine.frozenMs = 0;
    tree.find();
    machine.processes = [{ pid: 300 }, { pid: 400, env: "mark" }];
    tree.kill();
    expect(machine.reads.at(-1)).toEqual([300, 400]);
  });

  it("without /proc contains only the group, while it is not empty", () => {
    const { tree, machine } = newMachine([{ pid: 200 }, { pid: 400, env: "mark" }], { hasProc: false });
    expect(tree.kill()).toEqual([-200]);
    machine.processes = [];
    expect(tree.find()).toEqual([]);
  });

  it("forgets a group whose number may be reused", () => {
    const { tree } = newMachine([{ pid: 200 }]);
    tree.forgetGroup(200);
    expect(tree.groups).toEqual([]);
  });
});
