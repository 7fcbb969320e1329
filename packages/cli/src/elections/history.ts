/**
 * The history of one election while it is watched: who held it when, and every change. Renewals are not changes.
 * A lease expires here as it does for a candidate: when the record has not changed for the lease duration, by the watcher's
 * own clock. Pure: times are passed in. It does not know changes that the watch did not deliver.
 */
import { type ElectionState, leaseSecondsOf } from "./state.ts";

export interface Span {
  readonly holder: string;
  readonly fromMs: number;
  /** Undefined while the holder still holds the lock. */
  readonly toMs?: number;
}

type ChangeKind =
  | "leads"
  | "released"
  | "expired"
  | "vacant"
  | "deleted"
  | "paused"
  | "resumed"
  | "step-down"
  | "transfer"
  | "transfer-accepted"
  | "unreadable";

export interface Change {
  readonly kind: ChangeKind;
  readonly atMs: number;
  /** The leader after the change. */
  readonly leader?: string;
  /** The previous leader, or the candidate that an order names. */
  readonly other?: string;
  readonly transitions?: number;
  /** How long nobody led before this leader. */
  readonly gapMs?: number;
  /** How long the term lasted that this change ended; for the first state seen, how long it has lasted. */
  readonly heldMs?: number;
}

type Seen = Pick<ElectionState, "standing" | "record" | "orders" | "expiresInMs" | "heldForMs">;

export class History {
  readonly spans: Span[] = [];
  /** Nothing is known about the time before this. */
  knownFromMs: number | undefined;
  #last: Seen | undefined;
  #expiresAtMs: number | undefined;
  #vacantSinceMs: number | undefined;
  #lastHolder: string | undefined;

  /** The present leader, as far as the watch has shown. */
  get leader(): string | undefined {
    const span = this.spans.at(-1);
    return span && span.toMs === undefined ? span.holder : undefined;
  }

  get last(): Seen | undefined {
    return this.#last;
  }

  get expiresAtMs(): number | undefined {
    return this.#expiresAtMs;
  }

  /** Records a new state of the lock. */
  observe(state: Seen, nowMs: number): Change[] {
    const before = this.#last;
    this.#last = state;
    this.knownFromMs ??= nowMs - (state.standing === "led" ? (state.heldForMs ?? 0) : 0);
    return [...this.#holder(before, state, nowMs), ...orderChanges(before, state, nowMs)];
  }

  deleted(nowMs: number): Change[] {
    if (this.#last === undefined) return [];
    this.#last = undefined;
    this.#expiresAtMs = undefined;
    const ended = this.#end(nowMs);
    return [{ kind: "deleted", atMs: nowMs, ...ended }];
  }

  /** Records an expiry, if the lease has expired by now. */
  tick(nowMs: number): Change[] {
    if (this.#expiresAtMs === undefined || nowMs < this.#expiresAtMs) return [];
    const atMs = this.#expiresAtMs;
    this.#expiresAtMs = undefined;
    const ended = this.#end(atMs);
    return ended === undefined ? [] : [{ kind: "expired", atMs, ...ended }];
  }

  #holder(before: Seen | undefined, state: Seen, nowMs: number): Change[] {
    const { holderIdentity, acquireTime, leaseTransitions } = state.record;
    if (state.standing === "unreadable") {
      this.#expiresAtMs = undefined;
      const ended = this.#end(nowMs);
      return before?.standing === "unreadable" ? [] : [{ kind: "unreadable", atMs: nowMs, ...ended }];
    }
    if (holderIdentity === "") {
      this.#expiresAtMs = undefined;
      const ended = this.#end(nowMs);
      if (ended) return [{ kind: "released", atMs: nowMs, transitions: leaseTransitions, ...ended }];
      return before === undefined ? [{ kind: "vacant", atMs: nowMs, transitions: leaseTransitions }] : [];
    }
    if (before === undefined && state.standing === "expired") {
      this.#vacantSinceMs = nowMs + (state.expiresInMs ?? 0);
      this.#lastHolder = holderIdentity;
      return [{ kind: "expired", atMs: nowMs, other: holderIdentity, transitions: leaseTransitions }];
    }
    // In the first state seen, the lease counts from the last renewal; afterwards from when a change was seen, as for candidates.
    const leaseMs = leaseSecondsOf(state.record) * 1_000;
    this.#expiresAtMs = nowMs + (before === undefined ? (state.expiresInMs ?? leaseMs) : leaseMs);
    const isSameTerm =
      this.leader === holderIdentity &&
      before?.record.acquireTime === acquireTime &&
      before?.record.leaseTransitions === leaseTransitions;
    if (isSameTerm) return [];
    const ended = this.#end(nowMs);
    const gapMs = this.#vacantSinceMs === undefined ? undefined : nowMs - this.#vacantSinceMs;
    const other = ended?.other ?? this.#lastHolder;
    this.#vacantSinceMs = undefined;
    this.spans.push({
      holder: holderIdentity,
      fromMs: before === undefined ? nowMs - (state.heldForMs ?? 0) : nowMs,
    });
    return [
      {
        kind: "leads",
        atMs: nowMs,
        leader: holderIdentity,
        transitions: leaseTransitions,
        ...(other !== undefined && { other }),
        ...(gapMs !== undefined && !ended && { gapMs }),
        ...(before === undefined && state.heldForMs !== undefined && { heldMs: state.heldForMs }),
      },
    ];
  }

  #end(atMs: number): { other: string; heldMs: number } | undefined {
    const span = this.spans.at(-1);
    if (span === undefined || span.toMs !== undefined) return undefined;
    this.spans[this.spans.length - 1] = { ...span, toMs: atMs };
    this.#vacantSinceMs = atMs;
    this.#lastHolder = span.holder;
    return { other: span.holder, heldMs: atMs - span.fromMs };
  }
}

function orderChanges(before: Seen | undefined, { orders }: Seen, atMs: number): Change[] {
  const was = before?.orders;
  const changes: Change[] = [];
  if (orders.paused && !was?.paused) changes.push({ kind: "paused", atMs });
  if (!orders.paused && was?.paused) changes.push({ kind: "resumed", atMs });
  if (orders.stepDown && !was?.stepDown) changes.push({ kind: "step-down", atMs });
  if (orders.transferTo !== undefined && orders.transferTo !== was?.transferTo) {
    changes.push({ kind: "transfer", atMs, other: orders.transferTo });
  }
  if (orders.transferTo !== undefined && orders.transferAccepted && !was?.transferAccepted) {
    changes.push({ kind: "transfer-accepted", atMs, other: orders.transferTo });
  }
  return changes;
}
