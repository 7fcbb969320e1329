/**
 * Two locks held as one, to move an election from a legacy lock to a Lease without a moment with two leaders:
 * first every replica holds `from`, then (rolling update) both, then (rolling update) only `to`.
 *
 * Who holds only one of the two does not lead. Both are taken in the order from, to, and let go in the order to, from;
 * a candidate that knows only one of them is thus never surprised. Where the holders differ, the lock is held by nobody
 * that can be named, and is waited out, as client-go's MultiLock does. So is what this very lock wrote into one of them
 * while the other is missing: a write that got half-way, or of which one half was deleted.
 */
import { type Answer, type LeaderRecord, type LockView, sameRecord } from "@tenure/core";
import type { Lock, LockObserver, LockSpec } from "../lock.ts";

/** client-go's name for a holder that the two locks do not agree on. */
const unknownHolder = "leaderelection.k8s.io/unknown";

interface Both {
  readonly from: LockView | undefined;
  readonly to: LockView | undefined;
}

const nobody: LeaderRecord = {
  holderIdentity: "",
  leaseDurationSeconds: undefined,
  acquireTime: undefined,
  renewTime: undefined,
  leaseTransitions: 0,
};

/** So many own writes are remembered; core remembers no more of them either. */
const rememberedWrites = 16;

export class MigrationLock implements Lock {
  readonly #from: Lock;
  readonly #to: Lock;
  /** The versions that were read or written last, so that the echo of an own write is not taken for news. */
  #known: Both = { from: undefined, to: undefined };
  /** What is being written: its echo may be faster than its answer. */
  readonly #writing = new Set<LeaderRecord>();
  #written: readonly LeaderRecord[] = [];
  /** The highest revision so far: a deletion of the newer half must not look like a step back. */
  #revision = -1n;

  constructor(locks: { readonly from: Lock; readonly to: Lock }) {
    this.#from = locks.from;
    this.#to = locks.to;
  }

  get description(): string {
    return `${this.#from.description} and ${this.#to.description}`;
  }

  get spec(): LockSpec | undefined {
    const { spec: from } = this.#from;
    const { spec: to } = this.#to;
    return from && to ? { kind: "migration", from, to } : undefined;
  }

  async prepare(): Promise<void> {
    await Promise.all([this.#from.prepare?.(), this.#to.prepare?.()]);
  }

  async read(signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    const known = this.#known;
    const [from, to] = await Promise.all([
      this.#from.read(signal, timeoutMs),
      this.#to.read(signal, timeoutMs),
    ]);
    const failed = [from, to].find((answer) => answer.kind === "failed" || answer.kind === "conflict");
    if (failed) return failed;
    // An absence has no revision: if more was learned since it was asked for, it cannot be told which is older.
    if (this.#known !== known && (from.kind === "absent" || to.kind === "absent"))
      return { kind: "conflict" };
    return this.#answer({ from: viewOf(from), to: viewOf(to) });
  }

  async write(...args: Parameters<Lock["write"]>): Promise<Answer> {
    const [record] = args;
    this.#writing.add(record);
    try {
      return await this.#writeBoth(...args);
    } finally {
      this.#writing.delete(record);
    }
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    const isUp = { from: false, to: false };
    for (const which of ["from", "to"] as const) this.#watchOne(which, isUp, observer, signal);
  }

  announce(message: string, view: LockView | undefined, signal: AbortSignal): Promise<void> {
    const { to } = (view?.object ?? {}) as Partial<Both>;
    return this.#to.announce?.(message, to, signal) ?? Promise.resolve();
  }

  async #writeBoth(...[record, over, signal, timeoutMs]: Parameters<Lock["write"]>): Promise<Answer> {
    const before = (over?.object ?? {}) as Partial<Both>;
    const isRelease = record.holderIdentity === "";
    if (!isRelease) this.#written = [...this.#written, record].slice(-rememberedWrites);
    const writeFrom = () => this.#from.write(record, before.from, signal, timeoutMs);
    const writeTo = () => this.#to.write(record, before.to, signal, timeoutMs);
    const first = await (isRelease ? writeTo() : writeFrom());
    if (first.kind !== "found") return unlessHalf(first);
    const second = await (isRelease ? writeFrom() : writeTo());
    if (second.kind !== "found") return unlessHalf(second);
    return this.#answer(
      isRelease ? { from: second.view, to: first.view } : { from: first.view, to: second.view },
    );
  }

  #watchOne(
    which: "from" | "to",
    isUp: { from: boolean; to: boolean },
    observer: LockObserver,
    signal: AbortSignal,
  ): void {
    const lock = which === "from" ? this.#from : this.#to;
    lock.watch?.(
      {
        observed: (view) => {
          if (!this.#isEcho(which, view)) observer.changed();
        },
        deleted: () => observer.changed(),
        changed: () => observer.changed(),
        up: () => {
          isUp[which] = true;
          if (isUp.from && isUp.to) observer.up();
        },
        down: (failure) => {
          isUp[which] = false;
          observer.down(failure);
        },
      },
      signal,
    );
  }

  #isEcho(which: "from" | "to", view: LockView): boolean {
    if (view.version === this.#known[which]?.version) return true;
    return [...this.#writing].some((record) => sameRecord(record, view.record));
  }

  #answer(both: Both): Answer {
    this.#known = both;
    const { from, to } = both;
    const newest = from && to ? (from.revision > to.revision ? from : to) : (from ?? to);
    if (!newest) return { kind: "absent" };
    if (newest.revision > this.#revision) this.#revision = newest.revision;
    // Whoever gives orders may know only one of the two.
    const orders = to?.orders ?? from?.orders;
    return {
      kind: "found",
      view: {
        uid: from?.uid ?? newest.uid,
        version: `${from?.version ?? "-"}/${to?.version ?? "-"}`,
        revision: from && to ? newest.revision : this.#revision,
        record: from && to ? joined(from.record, to.record) : this.#half(newest.record),
        ...(orders && { orders }),
        object: both,
      },
    };
  }

  /** What stands in one of the two while the other is missing: its holder may know only this one, unless that is us. */
  #half(record: LeaderRecord): LeaderRecord {
    return this.#written.some((own) => sameRecord(own, record)) ? joined(record, nobody) : record;
  }
}

/** One of the two is gone, which does not mean that there is no lock: what is left is to be read. */
function unlessHalf(answer: Answer): Answer {
  return answer.kind === "absent" ? { kind: "conflict" } : answer;
}

function viewOf(answer: Answer): LockView | undefined {
  return answer.kind === "found" ? answer.view : undefined;
}

/**
 * One record for both. With one holder it is the record of `to`, which is written last: only when that is there, the
 * write is complete. What two holders wrote is made such that no candidate can take it for its own.
 */
function joined(from: LeaderRecord, to: LeaderRecord): LeaderRecord {
  if (sameRecord(from, to) || from.holderIdentity === to.holderIdentity) return to;
  const durations = [from.leaseDurationSeconds, to.leaseDurationSeconds];
  return {
    holderIdentity: unknownHolder,
    leaseDurationSeconds: durations.includes(undefined) ? undefined : Math.max(...(durations as number[])),
    acquireTime: `${from.acquireTime}/${to.acquireTime}`,
    renewTime: `${from.renewTime}/${to.renewTime}`,
    leaseTransitions: Math.max(from.leaseTransitions, to.leaseTransitions),
  };
}
