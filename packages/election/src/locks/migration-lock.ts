/**
 * Two locks used as one, to move an election from a legacy lock to a Lease with never two leaders: at first the replicas use
 * `from`, after a rolling update both locks, and after another rolling update only `to`.
 *
 * A candidate that holds only one of the two locks does not lead. Both are acquired in the order from, to, and released in the
 * order to, from, so this is safe beside candidates that use only one of them. If the two holders differ, the holder is
 * unknown, and every candidate waits until the lease expires, as with client-go's MultiLock. The same applies to a record that
 * this lock wrote into one of the two while the other is missing: the write was incomplete, or one half was deleted.
 */
import { type Answer, type LeaderRecord, type LockView, sameRecord } from "@tenure/core";
import type { Lock, LockObserver, LockSpec } from "../lock.ts";

/** client-go's name for the holder if the two locks name different ones. */
const unknownHolder = "leaderelection.k8s.io/unknown";

interface Views {
  readonly from: LockView | undefined;
  readonly to: LockView | undefined;
}

const emptyRecord: LeaderRecord = {
  holderIdentity: "",
  leaseDurationSeconds: undefined,
  acquireTime: undefined,
  renewTime: undefined,
  leaseTransitions: 0,
};

/** How many of its own writes the lock remembers. Core remembers the same number. */
const rememberedWrites = 16;

export class MigrationLock implements Lock {
  readonly #from: Lock;
  readonly #to: Lock;
  /** What was read or written last. A watch event with one of these versions is not a change. */
  #known: Views = { from: undefined, to: undefined };
  /** What is being written: the watch event of a write may come before its answer. */
  readonly #writing = new Set<LeaderRecord>();
  #written: readonly LeaderRecord[] = [];
  /** The highest revision so far. The revision must not fall if the newer of the two objects is deleted. */
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
    // An absence has no revision. If the known views changed during this read, it is unclear which of the two is older.
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
    const { to } = (view?.object ?? {}) as Partial<Views>;
    return this.#to.announce?.(message, to, signal) ?? Promise.resolve();
  }

  async #writeBoth(...[record, over, signal, timeoutMs]: Parameters<Lock["write"]>): Promise<Answer> {
    const before = (over?.object ?? {}) as Partial<Views>;
    const isRelease = record.holderIdentity === "";
    if (!isRelease) this.#written = [...this.#written, record].slice(-rememberedWrites);
    const writeFrom = () => this.#from.write(record, before.from, signal, timeoutMs);
    const writeTo = () => this.#to.write(record, before.to, signal, timeoutMs);
    const first = await (isRelease ? writeTo() : writeFrom());
    if (first.kind !== "found") return absentAsConflict(first);
    const second = await (isRelease ? writeFrom() : writeTo());
    if (second.kind !== "found") return absentAsConflict(second);
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
          if (!this.#isKnown(which, view)) observer.changed();
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

  #isKnown(which: "from" | "to", view: LockView): boolean {
    if (view.version === this.#known[which]?.version) return true;
    return [...this.#writing].some((record) => sameRecord(record, view.record));
  }

  #answer(views: Views): Answer {
    this.#known = views;
    const { from, to } = views;
    const newest = from && to ? (from.revision > to.revision ? from : to) : (from ?? to);
    if (!newest) return { kind: "absent" };
    if (newest.revision > this.#revision) this.#revision = newest.revision;
    // An operator may have written the orders to only one of the two.
    const orders = to?.orders ?? from?.orders;
    return {
      kind: "found",
      view: {
        uid: from?.uid ?? newest.uid,
        version: `${from?.version ?? "-"}/${to?.version ?? "-"}`,
        revision: from && to ? newest.revision : this.#revision,
        record: from && to ? joinRecords(from.record, to.record) : this.#onlyRecord(newest.record),
        ...(orders && { orders }),
        object: views,
      },
    };
  }

  /** The record if one object is missing. Another candidate may use only this object; a record of our own is incomplete. */
  #onlyRecord(record: LeaderRecord): LeaderRecord {
    return this.#written.some((own) => sameRecord(own, record)) ? joinRecords(record, emptyRecord) : record;
  }
}

/** If one object is missing, the lock may still exist in the other. A conflict makes the candidate read both. */
function absentAsConflict(answer: Answer): Answer {
  return answer.kind === "absent" ? { kind: "conflict" } : answer;
}

function viewOf(answer: Answer): LockView | undefined {
  return answer.kind === "found" ? answer.view : undefined;
}

/**
 * One record for both objects. If the holder is the same, it is the record of `to`: that one is written last, so it shows that
 * the write is complete. If the holders differ, no candidate can recognise the result as its own write.
 */
function joinRecords(from: LeaderRecord, to: LeaderRecord): LeaderRecord {
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
