/**
 * Everything that a child has brought into the world and that still lives.
 *
 * A process is of the family if it is in the child's process group or session, if the marker is in the environment that it
 * was started with (inherited over fork, setsid and exec), if it is in a session of such a one, if its parent is of the
 * family, if it was seen as such before, or, where we are the first process of a container, if it is an orphan that was given
 * to us.
 *
 * Does not find a process that cleared its environment AND left the session AND lost all its parents before anybody looked.
 * Without /proc only the process group is known.
 */
import { type Delivery, sendSignal } from "../platform.ts";
import type { ProcessRow, ProcessTable } from "./table.ts";

/** Carries the marker to all descendants. */
export const markerVariable = "TENURE_CHILD_MARKER";

export interface FamilyParts {
  /** A text that stands in the environment of every member. */
  readonly marker: string;
  readonly table: ProcessTable;
  /** The pid of the supervisor. It and its ancestors are never members. */
  readonly supervisor: number;
  /** Never members either: the watchdog. */
  readonly spared: () => readonly number[];
  readonly send?: (pid: number, signal: NodeJS.Signals | 0) => Delivery;
}

export class Family {
  readonly #parts: FamilyParts;
  readonly #send: NonNullable<FamilyParts["send"]>;
  readonly #groups = new Set<number>();
  /** Of those who carry the marker, as of the last look. Only the family makes sessions there. */
  #sessions = new Set<number>();
  /** Seen before, by pid and start. */
  #known = new Map<number, number>();

  constructor(parts: FamilyParts) {
    this.#parts = parts;
    this.#send = parts.send ?? sendSignal;
  }

  addGroup(group: number): void {
    this.#groups.add(group);
  }

  /** Its number may belong to somebody else from now on. */
  forgetGroup(group: number): void {
    this.#groups.delete(group);
  }

  get groups(): readonly number[] {
    return [...this.#groups];
  }

  /** The pids of all members. Where they cannot be listed: the groups that are not empty, as negative numbers. */
  find(): number[] {
    return this.#look().map(({ pid }) => pid);
  }

  /** To every group at once, then to each member outside of them; one signal after the other. */
  signal(...signals: NodeJS.Signals[]): void {
    const outside = this.#look().filter(({ group }) => !this.#groups.has(group));
    for (const signal of signals) {
      for (const group of this.#groups) this.#send(-group, signal);
      for (const { pid } of outside) this.#send(pid, signal);
    }
  }

  /**
   * Looks first: a death makes orphans, and nobody knows whose they were. A group dies at once, which no fork escapes; of
   * the others all stand still before the first dies, so that none can bring it back.
   */
  kill(): number[] {
    const members = this.#look();
    for (const group of this.#groups) this.#send(-group, "SIGKILL");
    // Also those of which nobody has told us: the supervisor may have died before it could.
    const others = new Set(
      members.filter(({ session }) => this.#sessions.has(session)).map(({ group }) => group),
    );
    for (const group of others) if (group > 0 && !this.#groups.has(group)) this.#send(-group, "SIGKILL");
    for (const { pid } of members) this.#send(pid, "SIGSTOP");
    for (const { pid } of members) this.#send(pid, "SIGKILL");
    return members.map(({ pid }) => pid);
  }

  #look(): Pick<ProcessRow, "pid" | "group" | "session">[] {
    const rows = this.#parts.table.read();
    if (!rows) {
      return this.groups
        .filter((group) => this.#send(-group, 0) !== "gone")
        .map((group) => ({ pid: -group, group, session: group }));
    }
    const members = this.#membersOf(rows);
    this.#known = new Map(members.map(({ pid, started }) => [pid, started]));
    return members;
  }

  #membersOf(rows: readonly ProcessRow[]): ProcessRow[] {
    const { supervisor, spared } = this.#parts;
    const never = new Set([supervisor, ...spared(), ...ancestorsOf(supervisor, rows)]);
    const candidates = rows.filter(({ pid }) => !never.has(pid));
    const own = rows.find(({ pid }) => pid === supervisor);
    const isMarked = (row: ProcessRow) => this.#isMarked(row, own);
    const marked = candidates.filter(isMarked);
    // Of the last look as well: whoever was born of one that is dead by now has nothing else to be known by.
    const sessions = new Set([...this.#sessions, ...marked.map(({ session }) => session)]);
    sessions.delete(own?.session ?? 0);
    const members = new Map(marked.map((row) => [row.pid, row]));
    for (const row of candidates) {
      if (sessions.has(row.session) || this.#isKnown(row) || this.#isOrphan(row, own))
        members.set(row.pid, row);
    }
    this.#sessions = new Set(
      [...members.values()].map(({ session }) => session).filter((id) => sessions.has(id)),
    );
    addDescendants(members, candidates);
    return [...members.values()];
  }

  #isMarked(row: ProcessRow, own: ProcessRow | undefined): boolean {
    if (this.#groups.has(row.group) || this.#groups.has(row.session)) return true;
    // Whoever is older than the marker does not carry it.
    if (own && row.started < own.started) return false;
    return this.#parts.table.environmentOf(row.pid)?.includes(this.#parts.marker) ?? false;
  }

  #isKnown({ pid, started }: ProcessRow): boolean {
    return this.#known.get(pid) === started;
  }

  /** What we start ourselves and is no child of the leader's (a credential plugin) stays in our session. */
  #isOrphan({ parent, session }: ProcessRow, own: ProcessRow | undefined): boolean {
    return this.#parts.supervisor === 1 && parent === 1 && session !== own?.session;
  }
}

/** Children of members are members. */
function addDescendants(members: Map<number, ProcessRow>, others: readonly ProcessRow[]): void {
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const row of others) if (members.has(row.parent)) members.set(row.pid, row);
  }
}

function ancestorsOf(pid: number, rows: readonly ProcessRow[]): number[] {
  const parents = new Map(rows.map((row) => [row.pid, row.parent]));
  const ancestors: number[] = [];
  for (
    let at = parents.get(pid);
    at !== undefined && at > 0 && !ancestors.includes(at);
    at = parents.get(at)
  ) {
    ancestors.push(at);
  }
  return ancestors;
}
