/**
 * The process tree of a child: every process that belongs to the child and still runs.
 *
 * A process belongs to the tree if one of these holds:
 * - it is in the process group or the session of the child;
 * - its initial environment contains the marker, which is inherited through fork, setsid and exec;
 * - it is in the session of a process with the marker;
 * - its parent belongs to the tree;
 * - an earlier scan found that it belongs to the tree;
 * - the supervisor is PID 1 of a container, or was started by an init such as tini that is, and the process is an orphan that
 *   was reparented to PID 1;
 * - it is in the control group of the child, if there is one.
 *
 * Does not find a process that cleared its environment AND left the session AND lost all its parents before the first scan.
 * Without /proc it knows only the process group.
 */
import { type Delivery, sendSignal } from "../platform.ts";
import type { ChildCgroup } from "./child-cgroup.ts";
import type { ProcessRow, ProcessTable } from "./process-table.ts";

/** The environment variable that carries the marker to all descendants. */
export const markerVariable = "TENURE_CHILD_MARKER";

/** Programs that are made to be PID 1 of a container and start one program. Their other children are orphans of that program. */
const containerInits: ReadonlySet<string> = new Set([
  "tini",
  "tini-static",
  "docker-init",
  "dumb-init",
  "catatonit",
]);

interface ProcessTreeOptions {
  /** A text that every process of the tree inherits in its environment. */
  readonly marker: string;
  readonly table: ProcessTable;
  /** The pid of the supervisor. The supervisor and its ancestors never belong to the tree. */
  readonly supervisor: number;
  /** Pids that never belong to the tree: the watchdog. */
  readonly excluded: () => readonly number[];
  /**
   * Whether all orphans of a container whose PID 1 is the supervisor, or its init, belong to this tree. Not if the supervisor
   * has several trees. @default true
   */
  readonly adoptsOrphans?: boolean;
  /** @default none */
  readonly cgroup?: ChildCgroup;
  readonly send?: (pid: number, signal: NodeJS.Signals | 0) => Delivery;
}

export class ProcessTree {
  readonly #options: ProcessTreeOptions;
  readonly #send: NonNullable<ProcessTreeOptions["send"]>;
  readonly #groups = new Set<number>();
  /** The sessions of the processes with the marker, as of the last scan. Only the tree creates processes in them. */
  #sessions = new Set<number>();
  /** The processes of the last scan, by pid, with their start time. */
  #known = new Map<number, number>();
  /** Whether orphans of the tree are reparented to PID 1, and other processes are not. Known after the first scan. */
  #hasOwnInit = false;

  constructor(options: ProcessTreeOptions) {
    this.#options = options;
    this.#send = options.send ?? sendSignal;
  }

  addGroup(group: number): void {
    this.#groups.add(group);
  }

  /** Call this when the group is empty: the system may give its number to another group. */
  forgetGroup(group: number): void {
    this.#groups.delete(group);
  }

  /** Puts the child, its descendants and all that they will start into the control group. */
  async confine(child: number): Promise<void> {
    await this.#options.cgroup?.add(child, () => this.find());
  }

  /** Call this when no process is left. */
  removeCgroup(): void {
    this.#options.cgroup?.remove();
  }

  get groups(): readonly number[] {
    return [...this.#groups];
  }

  /** The pids of all processes of the tree. Without /proc: the groups that are not empty, as negative numbers. */
  find(): number[] {
    return this.#scan().map(({ pid }) => pid);
  }

  /**
   * Sends each signal to every group that has processes, then to each process outside of the groups.
   * @returns how many processes the tree has
   */
  signal(...signals: NodeJS.Signals[]): number {
    const members = this.#scan();
    const outside = members.filter(({ group }) => !this.#groups.has(group));
    // The number of an empty group may already belong to somebody else.
    const groups = this.groups.filter((group) => members.some((member) => member.group === group));
    for (const signal of signals) {
      for (const group of groups) this.#send(-group, signal);
      for (const { pid } of outside) this.#send(pid, signal);
    }
    return members.length;
  }

  /**
   * Sends SIGKILL to all processes of the tree and returns their pids. Scans before it kills, because a death makes orphans,
   * which then have no parent to be recognised by. One signal kills a whole group, and no fork escapes it. All other
   * processes are stopped before the first of them is killed, so that none can start another.
   */
  kill(): number[] {
    const members = this.#scan();
    this.#options.cgroup?.kill();
    for (const group of this.#groups) this.#send(-group, "SIGKILL");
    // Groups that nobody has added yet, because the supervisor died before it could.
    const others = new Set(
      members.filter(({ session }) => this.#sessions.has(session)).map(({ group }) => group),
    );
    for (const group of others) if (group > 0 && !this.#groups.has(group)) this.#send(-group, "SIGKILL");
    for (const { pid } of members) this.#send(pid, "SIGSTOP");
    for (const { pid } of members) this.#send(pid, "SIGKILL");
    return members.map(({ pid }) => pid);
  }

  #scan(): Pick<ProcessRow, "pid" | "group" | "session">[] {
    const rows = this.#options.table.read();
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
    const { supervisor, excluded } = this.#options;
    const never = new Set([supervisor, ...excluded(), ...ancestorsOf(supervisor, rows)]);
    const candidates = rows.filter(({ pid }) => !never.has(pid));
    const own = rows.find(({ pid }) => pid === supervisor);
    if (own) this.#hasOwnInit = hasOwnInit(own, rows);
    const confined = new Set(this.#options.cgroup?.members());
    const marked = candidates.filter((row) => this.#isMarked(row, own));
    // Includes the sessions of the last scan: the session is all that identifies a process whose parent has died since.
    const sessions = new Set([...this.#sessions, ...marked.map(({ session }) => session)]);
    sessions.delete(own?.session ?? 0);
    const members = new Map(marked.map((row) => [row.pid, row]));
    for (const row of candidates) {
      const isMember = sessions.has(row.session) || confined.has(row.pid) || this.#isKnown(row);
      if (isMember || this.#isOrphan(row, own)) members.set(row.pid, row);
    }
    this.#sessions = new Set(
      [...members.values()].map(({ session }) => session).filter((id) => sessions.has(id)),
    );
    addDescendants(members, candidates);
    return [...members.values()];
  }

  #isMarked(row: ProcessRow, own: ProcessRow | undefined): boolean {
    if (this.#groups.has(row.group) || this.#groups.has(row.session)) return true;
    // A process that is older than the supervisor cannot have the marker.
    if (own && row.started < own.started) return false;
    return this.#options.table.environmentOf(row.pid)?.includes(this.#options.marker) ?? false;
  }

  #isKnown({ pid, started }: ProcessRow): boolean {
    return this.#known.get(pid) === started;
  }

  /** Processes that the supervisor starts for itself (a credential plugin) stay in its session. */
  #isOrphan({ parent, session, started }: ProcessRow, own: ProcessRow | undefined): boolean {
    if (this.#options.adoptsOrphans === false) return false;
    if (!this.#hasOwnInit || parent !== 1 || session === own?.session) return false;
    return own === undefined || started >= own.started;
  }
}

/** A service of systemd has PID 1 as its parent too, but so have all other services. */
function hasOwnInit({ pid, parent }: ProcessRow, rows: readonly ProcessRow[]): boolean {
  if (pid === 1) return true;
  return parent === 1 && rows.some((row) => row.pid === 1 && containerInits.has(row.name));
}

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
