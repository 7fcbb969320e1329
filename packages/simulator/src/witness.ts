/**
 * What a candidate was told about its lock. The checker must not blame a candidate for what it cannot know, and what a lock
 * reports to its candidate is all that it can know.
 */
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import type { Lock } from "@tenure/election";

export class Witness {
  longestLeaseMs = 0;
  #revision = -1n;
  #uids: ReadonlySet<string> = new Set();
  /** The highest revision that was known when the store was restored from a backup. */
  #highestAtRestore = -1n;
  #hasReadOlder = false;
  /** What the candidate knew when it sent each write. */
  readonly #knownWhenSent = new Map<string, ReadonlySet<string>>();

  /** Only by this can a candidate notice that the store went back. */
  get highestRevision(): bigint {
    return this.#uids.size === 0 ? -1n : this.#revision;
  }

  storeRestored(highestRevision: bigint): void {
    this.#highestAtRestore = highestRevision;
    this.#hasReadOlder = false;
  }

  /** Whether the candidate has read an older revision since the store was restored. It cannot notice if the number was given again before. */
  get canNoticeRestore(): boolean {
    return this.#hasReadOlder;
  }

  /** Whether the candidate has last been shown this lock object. Only then can it notice its deletion. */
  knows(uid: string): boolean {
    return this.#uids.has(uid);
  }

  /** Whether the candidate knew this lock object when it sent this record. It cannot call back what it has sent. */
  knewWhenSending(record: LeaderRecord, uid: string): boolean {
    return this.#knownWhenSent.get(keyOf(record))?.has(uid) ?? true;
  }

  /**
   * The same lock, of which this witness hears everything that the candidate hears.
   * @param beside what the candidate uses of the lock beside the record
   */
  of(lock: Lock, beside: Pick<Lock, "candidates" | "coordination"> = {}): Lock {
    const noting = async (answering: Promise<Answer>): Promise<Answer> => {
      const answer = await answering;
      if (answer.kind === "found") this.#saw(answer.view);
      else if (answer.kind === "absent") this.#uids = new Set();
      return answer;
    };
    return {
      ...beside,
      description: lock.description,
      prepare: async () => lock.prepare?.(),
      read: async (...args) => {
        const answer = await noting(lock.read(...args));
        this.#hasReadOlder ||= answer.kind === "found" && answer.view.revision < this.#highestAtRestore;
        return answer;
      },
      write: (record, ...args) => {
        this.#knownWhenSent.set(keyOf(record), this.#uids);
        return noting(lock.write(record, ...args));
      },
      acceptTransfer: (...args) =>
        noting(lock.acceptTransfer?.(...args) ?? Promise.resolve({ kind: "conflict" })),
      watch: (observer, signal) =>
        lock.watch?.(
          {
            ...observer,
            observed: (view) => {
              this.#saw(view);
              observer.observed(view);
            },
            deleted: (revision) => {
              if (revision >= this.#revision) this.#uids = new Set();
              observer.deleted(revision);
            },
          },
          signal,
        ),
      announce: async (...args) => lock.announce?.(...args),
    };
  }

  #saw(view: LockView): void {
    const seconds = view.record.leaseDurationSeconds ?? 0;
    this.longestLeaseMs = Math.max(this.longestLeaseMs, seconds * 1_000);
    if (view.revision < this.#revision) return;
    this.#revision = view.revision;
    this.#uids = new Set(uidsOf(view));
  }
}

/** The times of a record have random digits, so no two writes of a candidate share them. */
function keyOf({ acquireTime, renewTime }: LeaderRecord): string {
  return `${acquireTime} ${renewTime}`;
}

/** The lock object, or the two objects of a migration. */
function uidsOf({ uid, object }: LockView): string[] {
  const { from, to } = (object ?? {}) as { readonly from?: LockView; readonly to?: LockView };
  if (!from && !to) return [uid];
  return [from?.uid, to?.uid].filter((other) => other !== undefined);
}
