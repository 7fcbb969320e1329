/**
 * What happened to one election while somebody watched: who held it when, and every change worth a line. Renewals are none.
 * Expiry is judged as a candidate judges it: by how long the record has not changed, on the watcher's own clock.
 * Pure: the moments are passed in. A change that the watch did not deliver is not known here.
 */
import { type ElectionState, leaseSecondsOf } from "./state.ts";
import { spell } from "./time-words.ts";

export interface Span {
  readonly holder: string;
  readonly fromMs: number;
  /** Undefined while it lasts. */
  readonly toMs?: number;
}

export type ChangeKind =
  | "leads"
  | "released"
  | "expired"
  | "vacant"
  | "deleted"
  | "paused"
  | "resumed"
  | "step-down"
  | "transfer"
  | "unreadable";

export interface Change {
  readonly kind: ChangeKind;
  readonly atMs: number;
  /** Who leads after the change. */
  readonly leader?: string;
  /** Who led before it, or whom an order names. */
  readonly other?: string;
  readonly transitions?: number;
  /** How long nobody led, before somebody does. */
  readonly gapMs?: number;
  /** How long the term lasted that ended. */
  readonly heldMs?: number;
}

type Seen = Pick<ElectionState, "standing" | "record" | "orders" | "expiresInMs" | "heldForMs">;

export class History {
  readonly spans: Span[] = [];
  /** Nothing is known of the time before. */
  knownFromMs: number | undefined;
  #last: Seen | undefined;
  #expiresAtMs: number | undefined;
  #vacantSinceMs: number | undefined;
  #lastHolder: string | undefined;

  /** Who leads, as far as was seen. */
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

  /** The lock as it is now. */
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

  /** Time passed: has the holder's run out? */
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
    // At the first look the time runs since the last renewal; later since the change was seen, as candidates count.
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
  return changes;
}

export function describeChange({ kind, leader, other, gapMs, heldMs, transitions }: Change): string {
  const held = heldMs === undefined ? "" : ` after ${spell(heldMs)}`;
  switch (kind) {
    case "leads": {
      const details = [
        `transition ${transitions ?? 0}`,
        ...(heldMs === undefined ? [] : [`since ${spell(heldMs)}`]),
        ...(gapMs === undefined ? [] : [`after ${spell(gapMs)} without a leader`]),
        ...(other === undefined ? [] : [other === leader ? "a new term" : `before: ${other}`]),
      ];
      return `${leader} leads (${details.join(", ")})`;
    }
    case "released":
      return `${other} released it${held}`;
    case "expired":
      return `${other} did not renew in time: nobody leads`;
    case "vacant":
      return "nobody leads";
    case "deleted":
      return `the lock was deleted${other === undefined ? "" : ` while ${other} held it`}`;
    case "paused":
      return "paused: nobody takes office until it is resumed";
    case "resumed":
      return "resumed";
    case "step-down":
      return "the leader was told to step down";
    case "transfer":
      return `the leader was told to make way for ${other}`;
    case "unreadable":
      return "the record cannot be read: tenure status says why";
  }
}
