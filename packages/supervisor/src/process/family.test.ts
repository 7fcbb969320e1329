import { describe, expect, it } from "vitest";
import { Family } from "./family.ts";
import type { ProcessRow } from "./table.ts";

interface Person {
  readonly pid: number;
  readonly parent?: number;
  readonly group?: number;
  readonly session?: number;
  readonly started?: number;
  readonly env?: string;
}

/** A machine with these processes: 1 is its init, 100 the supervisor, 101 its watchdog. */
function machine(people: readonly Person[], { supervisor = 100, hasProc = true } = {}) {
  const world = {
    people: [
      { pid: 1, parent: 0, session: 1 },
      { pid: 50, parent: 1, session: 50 },
      { pid: 100, parent: 50, session: 50 },
      { pid: 101, parent: supervisor, session: 101 },
      ...people,
    ] as readonly Person[],
    sent: [] as string[],
  };
  const family = new Family({
    marker: "mark",
    supervisor,
    spared: () => [101],
    table: {
      read: () =>
        hasProc
          ? world.people.map(
              ({ pid, parent = 1, group = pid, session = pid, started = 1 }): ProcessRow => ({
                pid,
                parent,
                group,
                session,
                started,
              }),
            )
          : undefined,
      environmentOf: (pid) => Buffer.from(world.people.find((person) => person.pid === pid)?.env ?? ""),
    },
    send: (pid, signal) => {
      world.sent.push(`${signal} ${pid}`);
      return world.people.some(({ group, pid: own }) => pid === -(group ?? own)) ? "sent" : "gone";
    },
  });
  family.addGroup(200);
  return { family, world };
}

describe("Family", () => {
  it("has the group and the session of the child, and nobody else", () => {
    const { family } = machine([
      { pid: 200, parent: 100 },
      { pid: 201, parent: 200, group: 200, session: 200 },
      { pid: 202, parent: 1, group: 202, session: 200 },
      { pid: 300, parent: 1 },
      { pid: 301, parent: 100, session: 50 },
    ]);
    expect(family.find()).toEqual([200, 201, 202]);
  });

  it("has whoever carries the marker, wherever it is, and its children also without", () => {
    const { family } = machine([
      { pid: 400, parent: 1, env: "A=b\0TENURE_CHILD_MARKER=outer mark.1\0" },
      { pid: 401, parent: 400 },
      { pid: 402, parent: 401 },
      { pid: 403, parent: 1, env: "TENURE_CHILD_MARKER=another" },
    ]);
    expect(family.find()).toEqual([400, 401, 402]);
  });

  it("knows an orphan again that was seen with its parent, and not another process with its pid", () => {
    const { family, world } = machine([{ pid: 200 }, { pid: 201, parent: 200 }]);
    expect(family.find()).toEqual([200, 201]);
    world.people = [{ pid: 201, parent: 1 }];
    expect(family.find()).toEqual([201]);
    world.people = [{ pid: 201, parent: 1, started: 2 }];
    expect(family.find()).toEqual([]);
  });

  it("has the whole session of whoever carries the marker, also when that one is dead by now", () => {
    const { family, world } = machine([
      { pid: 400, parent: 1, group: 400, session: 400, env: "mark" },
      { pid: 401, parent: 1, group: 401, session: 400 },
    ]);
    expect(family.find()).toEqual([400, 401]);
    world.people = [{ pid: 402, parent: 1, group: 400, session: 400 }];
    expect(family.find()).toEqual([402]);
    world.people = [];
    expect(family.find()).toEqual([]);
    // Somebody else's by now.
    world.people = [{ pid: 400, parent: 1, started: 9 }];
    expect(family.find()).toEqual([]);
  });

  it("never has our own session, though somebody in it carries the marker", () => {
    const { family } = machine([
      { pid: 400, parent: 100, session: 50, env: "mark" },
      { pid: 401, parent: 100, session: 50 },
    ]);
    expect(family.find()).toEqual([400]);
  });

  it("takes orphans that the first process of a container was given, and not what that started in its own session", () => {
    const orphans = [
      { pid: 500, parent: 1, session: 500 },
      { pid: 501, parent: 1, session: 1 },
      { pid: 502, parent: 0, session: 502 },
    ];
    const world = machine(orphans, { supervisor: 1 });
    // 50 and 100 are orphans of that machine too.
    expect(world.family.find().sort()).toEqual([100, 50, 500]);
    expect(machine(orphans).family.find()).toEqual([]);
  });

  it("never has the supervisor, its ancestors or the watchdog, whatever their environment says", () => {
    const { family, world } = machine([]);
    world.people = world.people.map((person) => ({ ...person, env: "mark" }));
    expect(family.find()).toEqual([]);
  });

  it("does not read the environment of those who are older than the supervisor", () => {
    const { family } = machine([
      { pid: 400, env: "mark", started: 0 },
      { pid: 401, env: "mark", started: 1 },
    ]);
    expect(family.find()).toEqual([401]);
  });

  it("signals groups as a whole and others one by one", () => {
    const { family, world } = machine([{ pid: 200 }, { pid: 201, group: 200 }, { pid: 400, env: "mark" }]);
    family.signal("SIGTERM", "SIGCONT");
    expect(world.sent).toEqual(["SIGTERM -200", "SIGTERM 400", "SIGCONT -200", "SIGCONT 400"]);
  });

  it("lets all stand still before it kills the first", () => {
    const { family, world } = machine([
      { pid: 400, env: "mark" },
      { pid: 401, env: "mark" },
    ]);
    expect(family.kill()).toEqual([400, 401]);
    expect(world.sent).toEqual([
      "SIGKILL -200",
      "SIGKILL -400",
      "SIGKILL -401",
      "SIGSTOP 400",
      "SIGSTOP 401",
      "SIGKILL 400",
      "SIGKILL 401",
    ]);
  });

  it("without /proc it has the group only, while anybody is in it", () => {
    const { family, world } = machine([{ pid: 200 }, { pid: 400, env: "mark" }], { hasProc: false });
    expect(family.kill()).toEqual([-200]);
    world.people = [];
    expect(family.find()).toEqual([]);
  });

  it("forgets a group whose number may be somebody else's", () => {
    const { family } = machine([{ pid: 200 }]);
    family.forgetGroup(200);
    expect(family.groups).toEqual([]);
  });
});
