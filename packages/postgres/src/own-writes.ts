/**
 * The writes of this candidate whose outcome is not known. PostgreSQL can show such a write to readers although its synchronous
 * standbys do not have it, for example after the primary restarts or after somebody cancels the wait. A failover then undoes it.
 * If this candidate took it for a confirmed renewal, two candidates could lead (G1). So it counts only after a confirmed read.
 * The writes of other candidates need no such care: they only make this one wait.
 */
import { type LeaderRecord, sameRecord } from "@tenure/core";

export class OwnWrites {
  readonly #unknown: LeaderRecord[] = [];
  #inFlight = 0;
  #isHeldBack = false;

  /** Whether a read must be confirmed before it may be believed. */
  get areUnknown(): boolean {
    return this.#unknown.length > 0;
  }

  sending(record: LeaderRecord): void {
    this.#unknown.push(record);
    this.#inFlight += 1;
  }

  /** A write ended. Returns whether its effect was held back from the watch and must be looked up. */
  settled(): boolean {
    this.#inFlight -= 1;
    const mustLookUp = this.#isHeldBack && this.areUnknown && this.#inFlight === 0;
    if (this.#inFlight === 0) this.#isHeldBack = false;
    return mustLookUp;
  }

  /** The server rejected the write, so it will never be visible. */
  rejected(record: LeaderRecord): void {
    const index = this.#unknown.indexOf(record);
    if (index >= 0) this.#unknown.splice(index, 1);
  }

  /** Everything that was visible up to now is safe. */
  confirmed(): void {
    this.#unknown.length = 0;
  }

  /**
   * What to do with a record that the watch reports. "hold": the answer to the write in flight will tell. "read": only a
   * confirmed read can tell.
   */
  judge(record: LeaderRecord): "believe" | "hold" | "read" {
    if (!this.#unknown.some((own) => sameRecord(own, record))) return "believe";
    if (this.#inFlight === 0) return "read";
    this.#isHeldBack = true;
    return "hold";
  }
}
