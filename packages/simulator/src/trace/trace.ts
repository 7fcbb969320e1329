/**
 * Records a simulation as steps of spec/Lease.tla: what each process sent, observed and was allowed to do, and what the server
 * committed. TLC then checks that the specification allows every step (spec/LeaseTrace.tla). It records the true time, in
 * whole milliseconds. A process in the trace is one start of a process, so a restart is a process of its own.
 */
import { type Config, initialState, type LeaderRecord, type State, validUntil } from "@tenure/core";
import type { Lock } from "@tenure/election";
import { Checker } from "../checker.ts";
import type { MachineClock } from "../machine-clock.ts";
import type { Plan } from "../plan.ts";
import type { Change, Server, StoredLock } from "../server.ts";
import type { CheckedCandidate } from "../violation.ts";

/** One step, by the names of spec/LeaseTrace.tla. */
export type TraceStep = { readonly op: string } & Readonly<Record<string, string | number | boolean>>;

interface TracedProcess {
  readonly name: string;
  state: State;
  isWorking: boolean;
  /** The version that it observed last. */
  seen: number;
  /** The newest version when it sent its last request. */
  newestAtRequest: number;
}

/** The specification has no restored stores, no edits by hand, and only candidates of tenure. */
export function withoutUnspecified(plan: Plan): Plan {
  return {
    ...plan,
    processes: plan.processes.map((process) => ({ ...process, kind: "tenure" })),
    faults: plan.faults.filter(({ kind }) => kind !== "restore" && kind !== "empty-by-hand"),
  };
}

export class Trace {
  readonly steps: TraceStep[] = [];
  /** The lease of each process in milliseconds, by its name. */
  readonly leaseMs = new Map<string, number>();
  /** Why the specification does not describe this history. */
  unspecified: string | undefined;
  readonly #processes = new Map<string, TracedProcess>();
  readonly #writes = new Map<
    LeaderRecord,
    { readonly p: string; readonly over: number; readonly sentMs: number }
  >();
  #now: () => number = () => 0;
  #lastMs = 0;
  /** Which versions are absences. The first is the lock before it is created. */
  readonly #absences = [1];
  #newest = 1;
  #lock: StoredLock | undefined;

  attach(now: () => number, server: Server): void {
    this.#now = now;
    const firstRevision = Number(server.revision);
    this.#version = (revision) => Number(revision) - firstRevision + 1;
    server.subscribe((change) => this.#changed(change));
  }

  #version: (revision: bigint) => number = Number;

  started({ id, leaseMs }: CheckedCandidate): void {
    const name = `p${this.#processes.size + 1}`;
    const state = { ...initialState };
    const newestAtRequest = this.#newest;
    this.#processes.set(id, { name, state, isWorking: false, seen: 0, newestAtRequest });
    this.leaseMs.set(name, leaseMs);
    this.#add({ op: "restart", p: name });
  }

  /** Records the requests that the process sends. */
  lock(id: string, lock: Lock): Lock {
    const { acceptTransfer } = lock;
    return {
      ...lock,
      read: (...args) => {
        this.#process(id).newestAtRequest = this.#newest;
        return lock.read(...args);
      },
      // For the specification, an acceptance is a change of metadata like any other.
      ...(acceptTransfer && {
        acceptTransfer: (...args) => {
          this.#process(id).newestAtRequest = this.#newest;
          return acceptTransfer(...args);
        },
      }),
      write: (record, over, ...args) => {
        const process = this.#process(id);
        process.newestAtRequest = this.#newest;
        const version = over ? this.#version(over.revision) : 0;
        const purpose =
          process.state.ownWrites.findLast((write) => write.record === record)?.purpose ?? "none";
        this.#add({ op: purpose, p: process.name, over: version });
        this.#writes.set(record, { p: process.name, over: version, sentMs: this.#lastMs });
        return lock.write(record, over, ...args);
      },
    };
  }

  /** Records what changed in a step of a process. */
  stepped(id: string, config: Config, state: State, clock: MachineClock): void {
    const process = this.#process(id);
    const before = process.state;
    process.state = state;
    const term = termIn(state);
    const starts = term !== undefined && term.token !== termIn(before)?.token;
    const heeds = starts || (term !== undefined && term.sent !== termIn(before)?.sent);
    const until = validUntil(config, state);
    const at = clock.now();
    const left = until
      ? Math.max(0, Math.floor(Math.min(until.monoMs - at.monoMs, until.wallMs - at.wallMs)))
      : 0;
    const v = this.#observed(process, before, state);
    if (v !== undefined) {
      if (v <= process.seen && before.lock.kind === "absent")
        this.unspecified ??= "an old version was delivered after an absence";
      process.seen = v;
      const token = starts ? this.#version(term.token) : 0;
      this.#add({ op: "observe", p: process.name, v, heeds, left, token });
    }
    // A term that was won after "stop" has no work.
    if (!hasWork(state) && (hasWork(before) || starts)) this.#add({ op: "stop", p: process.name });
  }

  working(id: string, isWorking: boolean): void {
    const process = this.#process(id);
    if (process.isWorking || isWorking) this.#add({ op: "work", p: process.name });
    process.isWorking = isWorking;
  }

  #observed({ seen, newestAtRequest }: TracedProcess, before: State, after: State): number | undefined {
    if (after.lock.kind === "present") {
      const isNew = before.lock.kind !== "present" || before.lock.view.version !== after.lock.view.version;
      return isNew ? this.#version(after.lock.view.revision) : undefined;
    }
    if (after.lock.kind !== "absent" || before.lock.kind === "absent") return undefined;
    if (after.revision !== before.revision) return this.#version(after.revision);
    // The answer to a request does not say which absence it is. It is one that began or lasted after the request was sent.
    const oldest = Math.max(seen + 1, newestAtRequest);
    return this.#absences.find((version) => version >= oldest);
  }

  #changed(change: Change): void {
    if (change.kind === "restored") {
      this.unspecified ??= "the store was restored";
      return;
    }
    this.#newest += 1;
    const before = this.#lock;
    if (change.kind === "deleted") {
      this.#absences.push(this.#newest);
      this.#lock = undefined;
      this.#add({ op: "delete" });
      return;
    }
    this.#lock = change.lock;
    if (before?.record === change.lock.record) {
      this.#add({ op: "annotate" });
      return;
    }
    const write = this.#writes.get(change.lock.record);
    if (!write) this.unspecified ??= "somebody edited the record";
    else {
      this.#pass();
      this.#add({ op: "commit", p: write.p, over: write.over, age: this.#lastMs - write.sentMs });
    }
  }

  #process(id: string): TracedProcess {
    const process = this.#processes.get(id);
    if (!process) throw new Error(`${id} has not started`);
    return process;
  }

  #pass(): void {
    const nowMs = Math.floor(this.#now());
    if (nowMs > this.#lastMs) this.steps.push({ op: "pass", ms: nowMs - this.#lastMs });
    this.#lastMs = nowMs;
  }

  #add(step: TraceStep): void {
    this.#pass();
    this.steps.push(step);
  }
}

/** Records when processes work, and passes everything on to the checker. */
export class TracedChecker extends Checker {
  readonly #trace: Trace;

  constructor(trace: Trace, now: () => number, longestLeaseMs: number) {
    super(now, longestLeaseMs);
    this.#trace = trace;
  }

  override started(candidate: CheckedCandidate): void {
    this.#trace.started(candidate);
    super.started(candidate);
  }

  override workStarted(candidate: CheckedCandidate): void {
    this.#trace.working(candidate.id, true);
    super.workStarted(candidate);
  }

  override workStopped(candidate: CheckedCandidate): void {
    this.#trace.working(candidate.id, false);
    super.workStopped(candidate);
  }
}

/** Whether the work may not have stopped yet. */
function hasWork({ phase }: State): boolean {
  return phase.name === "leading" || phase.name === "draining" || phase.name === "lost";
}

function termIn({ phase }: State) {
  return phase.name === "idle" || phase.name === "campaigning" ? undefined : phase.term;
}
