/**
 * A slow and simple model of the state machine. It keeps the whole history of events and effects and no other state, and
 * decides everything by scanning that history from the beginning. The state machine may be stricter, but never less strict.
 */
import type { Instant } from "@tenure/base";
import { elapsedMs } from "../instant.ts";
import { isRelease, type LeaderRecord, type LockView, sameRecord } from "../record.ts";
import type { Config, Effect, Event } from "../types.ts";
import type { Request, Write } from "./test-candidate.ts";

type Entry =
  | { readonly at: Instant; readonly event: Event; readonly effect?: undefined }
  | { readonly at: Instant; readonly effect: Effect; readonly event?: undefined };

/** A new state of the lock that the candidate learned of. `view` is undefined if the lock does not exist. */
interface Observation {
  readonly index: number;
  readonly at: Instant;
  readonly view: LockView | undefined;
}

interface SentWrite {
  readonly index: number;
  readonly at: Instant;
  readonly write: Write;
}

export class Model {
  readonly #config: Config;
  readonly #history: Entry[] = [];

  constructor(config: Config) {
    this.#config = config;
  }

  /** Records one step and returns its violations. */
  step(event: Event, effects: readonly Effect[], at: Instant): string[] {
    this.#history.push({ at, event });
    const violations: string[] = [];
    for (const effect of effects) {
      const objection = this.#objection(effect, at);
      if (objection) violations.push(`${effect.type} at ${at.monoMs}: ${objection}`);
      this.#history.push({ at, effect });
    }
    return violations;
  }

  /**
   * Whether work may run. All of this must hold:
   * - Our acquisition was sent after anything else was last seen in the lock, and was seen before its renew deadline.
   * - Since then, only our own renewals were seen. A renewal extends the term only if it was seen before the term was lost
   *   and before its hard deadline.
   * - The last of these writes was sent less than the hard deadline ago.
   */
  mayWork(at: Instant): boolean {
    const started = this.#lastEffect("term-started");
    if (started < 0 || this.#eventSince(started, "work-stopped")) return false;
    const observations = this.#observations();
    const before = observations.filter((observation) => observation.index < started);
    const own = before.at(-1);
    const acquired = own?.view && this.#writeOf(own.view.record);
    if (!own?.view || acquired?.write.purpose !== "acquire") return false;
    const lastOther = before.findLast(
      (observation) => !observation.view || !this.#writeOf(observation.view.record),
    );
    if (lastOther && lastOther.index > acquired.index) return false;
    const { renewDeadlineMs, hardDeadlineMs } = this.#config.timings;
    if (elapsedMs(acquired.at, own.at) >= renewDeadlineMs) return false;

    let sentAt = acquired.at;
    for (const { index, view, at: seenAt } of observations) {
      if (index < started) continue;
      const sent = view && this.#writeOf(view.record);
      if (!view || !sent || view.uid !== own.view.uid || sent.write.purpose === "release") return false;
      const wasLost = this.#isLost() && index > this.#lastEffect("term-lost");
      if (!wasLost && elapsedMs(sentAt, seenAt) < hardDeadlineMs) sentAt = sent.at;
    }
    return elapsedMs(sentAt, at) < hardDeadlineMs;
  }

  #objection(effect: Effect, at: Instant): string | undefined {
    switch (effect.type) {
      case "read":
        return this.#inFlight() === undefined ? undefined : "another request is in flight";
      case "write":
        if (this.#inFlight() !== undefined) return "another request is in flight";
        return this.#objectionToWrite(effect, at);
      case "accept":
        if (this.#inFlight() !== undefined) return "another request is in flight";
        return this.#objectionToAccepting(effect.over, at);
      case "cancel":
        return this.#inFlight() === effect.id ? undefined : "the request is not in flight";
      case "term-started": {
        const earlier = this.#history.filter((entry) => entry.effect?.type === "term-started");
        const tokens = earlier.map(({ effect: e }) => (e?.type === "term-started" ? e.token : 0n));
        if (tokens.some((token) => token >= effect.token))
          return `its token ${effect.token} is not the highest`;
        return this.#termIsOpen() ? "a term is open" : undefined;
      }
      case "term-ending":
        if (!this.#termIsOpen() || this.#lostOrEnding()) return "no term is being served";
        return effect.reason === "step-down" && !this.#isToldToStepDown() ? "nobody told it to" : undefined;
      case "term-lost":
        return this.#termIsOpen() && !this.#isLost() ? undefined : "there is no term to lose";
      case "renewed":
        return this.#termIsOpen() && !this.#isLost() ? undefined : "there is no term to renew";
      case "term-expired":
        if (!this.#isLost() || this.#lastEffect("term-expired") > this.#lastEffect("term-lost"))
          return "no term is lost";
        return this.mayWork({ monoMs: at.monoMs + 21, wallMs: at.wallMs + 21 })
          ? "the work may still run"
          : undefined;
      case "overrun":
        if (!this.#isLost() || this.#lastEffect("overrun") > this.#lastEffect("term-lost"))
          return "no term is lost";
        // 21 ms: a wall clock jump that is too small to be noticed also counts for writes that were sent after it.
        return this.mayWork({ monoMs: at.monoMs + 21, wallMs: at.wallMs + 21 })
          ? "the work may still run"
          : undefined;
      case "term-ended":
        return this.#termIsOpen() ? undefined : "no term is open";
      case "leader-changed": {
        const last = this.#history.findLast((entry) => entry.effect?.type === "leader-changed")?.effect;
        const before = last?.type === "leader-changed" ? last.leader : undefined;
        return before === effect.leader ? "the leader is the same as before" : undefined;
      }
      case "refused":
      case "stopped":
        return this.#termIsOpen() ? "a term is open" : undefined;
      case "failed":
        return undefined;
    }
  }

  /** The owner told this candidate, or the lock that it saw last does. A transfer that nobody accepted does not. */
  #isToldToStepDown(): boolean {
    if (this.#eventSince(this.#lastEffect("term-started"), "step-down")) return true;
    const { orders, record } = this.#observations().at(-1)?.view ?? {};
    return (
      orders?.paused === true ||
      (orders?.stepDown !== undefined && orders.stepDown === record?.leaseTransitions) ||
      this.#isLeftToAnother(this.#observations().at(-1)?.view)
    );
  }

  #isLeftToAnother(view: LockView | undefined): boolean {
    const { transfer } = view?.orders ?? {};
    return (
      transfer?.accepted === true &&
      transfer.transitions === view?.record.leaseTransitions &&
      transfer.to !== this.#config.identity
    );
  }

  #objectionToAccepting(over: LockView, at: Instant): string | undefined {
    const observations = this.#observations();
    const last = observations.at(-1);
    if (over !== last?.view) return "it is not over the version that was seen last";
    if (this.#termIsOpen()) return "a term is open";
    if (this.#isStopping()) return "the candidate is stopping";
    const { record, orders } = over;
    const { transfer, paused } = orders ?? {};
    const isAsked =
      transfer?.to === this.#config.identity && transfer.transitions === record.leaseTransitions;
    if (!isAsked || transfer.accepted || paused) return "it was not asked to";
    if (record.holderIdentity === "" || record.holderIdentity === this.#config.identity)
      return "there is no other holder";
    const expiresAtMs = this.#firstSeenMs(observations) + this.#leaseDurationMs(last);
    return at.monoMs < expiresAtMs ? undefined : "the lease of the holder has expired";
  }

  #objectionToWrite(write: Write, at: Instant): string | undefined {
    const observations = this.#observations();
    const last = observations.at(-1);
    if (!last) return "the state of the lock is unknown";
    if (write.over !== last.view) return "it is not over the version that was seen last";
    const own = last.view && this.#writeOf(last.view.record);
    const isServing = this.#termIsOpen() && !this.#isLost();
    const workStopped = this.#eventSince(this.#lastEffect("term-started"), "work-stopped");
    switch (write.purpose) {
      case "acquire":
        if (this.#termIsOpen()) return "a term is open";
        return this.#mayAcquire(observations, at) ? undefined : "another holder may still be working";
      case "renew":
        if (!isServing || workStopped) return "no term is being served";
        return own && own.write.purpose !== "release" ? undefined : "the lock does not hold our record";
      case "release":
        if (this.#termIsOpen() ? this.#isLost() || !workStopped : !this.#isStopping())
          return "the work has not stopped";
        return own && own.write.purpose !== "release" ? undefined : "the lock does not hold our record";
    }
  }

  #mayAcquire(observations: readonly Observation[], at: Instant): boolean {
    const last = observations.at(-1);
    if (!last) return false;
    if (last.view?.orders?.paused) return false;
    const { leaseDurationMs } = this.#config.timings;
    if (this.#isLeftToAnother(last.view) && at.monoMs < this.#firstSeenMs(observations) + leaseDurationMs)
      return false;
    const isForeign = last.view && !isRelease(last.view.record) && !this.#writeOf(last.view.record);
    if (isForeign && at.monoMs < this.#firstSeenMs(observations) + this.#leaseDurationMs(last)) return false;
    if (!last.view && this.#config.waitWhenAbsent) {
      if (at.monoMs < last.at.monoMs + leaseDurationMs) return false;
    }
    return observations.every((observation, n) => {
      const before = observations[n - 1];
      if (!before?.view || before.view.uid === observation.view?.uid) return true;
      const own = this.#writeOf(before.view.record);
      const wasOurs = own !== undefined && own.write.purpose !== "release";
      if (wasOurs && elapsedMs(own.at, observation.at) < this.#config.timings.hardDeadlineMs) return true;
      const leases = observations.slice(0, n).map((earlier) => this.#leaseDurationMs(earlier));
      return at.monoMs >= observation.at.monoMs + Math.max(...leases, this.#config.timings.leaseDurationMs);
    });
  }

  /** When the record in the lock was first seen. Later changes of metadata do not count. */
  #firstSeenMs(observations: readonly Observation[]): number {
    const current = observations.at(-1)?.view;
    const earlier = observations.findLastIndex(
      ({ view }) => !view || !current || view.uid !== current.uid || !sameRecord(view.record, current.record),
    );
    return observations[earlier + 1]?.at.monoMs ?? Number.POSITIVE_INFINITY;
  }

  #leaseDurationMs(observation: Observation): number {
    const seconds = observation.view?.record.leaseDurationSeconds;
    return seconds ? seconds * 1_000 : this.#config.timings.leaseDurationMs;
  }

  /** The states of the lock that the candidate learned of, without outdated and repeated ones. */
  #observations(): Observation[] {
    const observations: Observation[] = [];
    let highest = -1n;
    let request: { readonly id: number; readonly observationsBefore: number } | undefined;
    let changes = 0;
    for (const [index, { at, event, effect }] of this.#history.entries()) {
      if (isRequest(effect)) {
        request = { id: effect.id, observationsBefore: observations.length + changes };
      }
      if (effect?.type === "cancel") request = undefined;
      // An "absent" answer is ignored if it may be older than a reported change.
      if (event?.type === "changed") changes += 1;
      const view = event && viewIn(event);
      if (view && view.revision >= highest) {
        highest = view.revision;
        if (observations.at(-1)?.view?.version !== view.version) observations.push({ index, at, view });
      }
      const isAnswered = event?.type === "answer" && event.id === request?.id;
      const isAbsent =
        isAnswered &&
        event.answer.kind === "absent" &&
        request?.observationsBefore === observations.length + changes;
      const isDeleted = event?.type === "deleted" && event.revision >= highest;
      if (isDeleted) highest = event.revision;
      const last = observations.at(-1);
      if ((isAbsent || isDeleted) && !(last && !last.view)) observations.push({ index, at, view: undefined });
      if (isAnswered) request = undefined;
    }
    return observations;
  }

  #writeOf(record: LeaderRecord): SentWrite | undefined {
    const index = this.#history.findLastIndex(
      ({ effect }) => effect?.type === "write" && sameRecord(effect.record, record),
    );
    const entry = this.#history[index];
    return entry?.effect?.type === "write" ? { index, at: entry.at, write: entry.effect } : undefined;
  }

  #inFlight(): number | undefined {
    let id: number | undefined;
    for (const { event, effect } of this.#history) {
      if (isRequest(effect)) id = effect.id;
      if (effect?.type === "cancel" && effect.id === id) id = undefined;
      if (event?.type === "answer" && event.id === id) id = undefined;
    }
    return id;
  }

  #termIsOpen(): boolean {
    return this.#lastEffect("term-started") > this.#lastEffect("term-ended");
  }
  #isLost(): boolean {
    return this.#lastEffect("term-lost") > this.#lastEffect("term-started");
  }
  #lostOrEnding(): boolean {
    return this.#isLost() || this.#lastEffect("term-ending") > this.#lastEffect("term-started");
  }
  #isStopping(): boolean {
    return this.#lastEvent("stop") > Math.max(this.#lastEffect("stopped"), this.#lastEffect("refused"));
  }
  #lastEffect(type: Effect["type"]): number {
    return this.#history.findLastIndex((entry) => entry.effect?.type === type);
  }
  #lastEvent(type: Event["type"]): number {
    return this.#history.findLastIndex((entry) => entry.event?.type === type);
  }
  #eventSince(index: number, type: Event["type"]): boolean {
    return this.#lastEvent(type) > index;
  }
}

function viewIn(event: Event): LockView | undefined {
  if (event.type === "observed") return event.view;
  return event.type === "answer" && event.answer.kind === "found" ? event.answer.view : undefined;
}

function isRequest(effect: Effect | undefined): effect is Request {
  return effect?.type === "read" || effect?.type === "write" || effect?.type === "accept";
}
