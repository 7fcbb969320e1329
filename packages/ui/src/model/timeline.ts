/**
 * The history of all elections that were observed. Each observation changes it; nothing else does, and time passes only by
 * `advance`. A lease expires here as it does for a candidate: when the record has not changed for the lease duration, by the
 * clock of the observer.
 * Not promised: what nobody reported. A record shows who may work, not who works.
 */
import {
  type ElectionLine,
  type Ending,
  newElection,
  presentGap,
  presentTerm,
  replicaOf,
  type Term,
} from "./election.ts";
import { gapAfter } from "./gap.ts";
import type {
  LockSeen,
  Observation,
  ReplicaReported,
  SharesSeen,
  TimePassed,
  WatchChanged,
} from "./observation.ts";
import { endWork, reportWork } from "./work.ts";

/** So that an observation that lasts for weeks does not fill the memory. */
const mostTerms = 20_000;
const mostRenewals = 2_000;
const mostNotes = 1_000;

/** A timeline as data. */
export interface TimelineData {
  /** The time of the first observation. */
  readonly startMs: number;
  readonly nowMs: number;
  readonly elections: readonly ElectionLine[];
  readonly trouble?: string;
  readonly blind: readonly { readonly fromMs: number; readonly toMs?: number }[];
}

export class Timeline {
  readonly elections = new Map<string, ElectionLine>();
  /** Times in which changes were missed. */
  readonly blind: { fromMs: number; toMs?: number }[] = [];
  /** Why changes are missed at present. */
  trouble: string | undefined;
  /** The times of the first and the latest observation; 0 if there is none. */
  startMs = 0;
  nowMs = 0;

  static from({ startMs, nowMs, elections, trouble, blind }: TimelineData): Timeline {
    const timeline = new Timeline();
    for (const line of elections) timeline.elections.set(line.key, line);
    timeline.blind.push(...blind);
    timeline.trouble = trouble;
    timeline.startMs = startMs;
    timeline.nowMs = nowMs;
    return timeline;
  }

  toJSON(): TimelineData {
    const { startMs, nowMs, trouble, blind } = this;
    return {
      startMs,
      nowMs,
      elections: [...this.elections.values()],
      blind,
      ...(trouble !== undefined && { trouble }),
    };
  }

  /** Ends every lease that has expired by now. */
  advance(nowMs: number): void {
    this.nowMs = Math.max(this.nowMs, nowMs);
    for (const line of this.elections.values()) expire(line, this.nowMs);
  }

  observe(seen: Observation): void {
    if (this.startMs === 0) this.startMs = seen.atMs;
    this.nowMs = Math.max(this.nowMs, seen.atMs);
    if (seen.kind === "time") this.advance(seen.atMs);
    else if (seen.kind === "watch") this.#watch(seen.atMs, seen.up, seen.message);
    else {
      const line = this.elections.get(seen.election) ?? newElection(seen.election, seen.atMs);
      this.elections.set(seen.election, line);
      expire(line, seen.atMs);
      applyTo(line, seen);
    }
  }

  #watch(atMs: number, isUp: boolean, message: string | undefined): void {
    const last = this.blind.at(-1);
    if (!isUp && (last === undefined || last.toMs !== undefined)) this.blind.push({ fromMs: atMs });
    if (isUp && last && last.toMs === undefined) last.toMs = atMs;
    this.trouble = isUp ? undefined : (message ?? "the connection failed");
  }
}

function applyTo(line: ElectionLine, seen: Exclude<Observation, WatchChanged | TimePassed>): void {
  switch (seen.kind) {
    case "lock":
      lockSeen(line, seen);
      break;
    case "renewed":
      renewed(line, seen.atMs);
      break;
    case "deleted":
      line.orders = {};
      endTerm(line, seen.atMs, "deleted");
      break;
    case "unreadable":
      line.problem = seen.problem;
      endTerm(line, seen.atMs, "unreadable");
      break;
    case "replica":
      reported(line, seen);
      break;
    case "lost": {
      const replica = replicaOf(line, seen.id);
      replica.lostMs = seen.atMs;
      endWork(line, seen.id, replica.reportedMs ?? seen.atMs);
      break;
    }
    case "work": {
      const { id, token, fromMs, toMs } = seen;
      replicaOf(line, id);
      line.work.push({ id, fromMs, toMs, isWitnessed: true, ...(token !== undefined && { token }) });
      break;
    }
    case "candidates":
      for (const replica of line.replicas) delete replica.state;
      for (const { id, state } of seen.candidates) replicaOf(line, id).state = state;
      break;
    case "shares":
      shares(line, seen);
      break;
    case "note":
      line.notes.push({ atMs: seen.atMs, text: seen.text });
      if (line.notes.length > mostNotes) line.notes.shift();
  }
}

function lockSeen(line: ElectionLine, seen: LockSeen): void {
  const { atMs, holder, leaseMs, orders = {}, acquired, transitions, token } = seen;
  const isFirst = line.terms.length === 0 && line.gaps.length === 0;
  delete line.problem;
  // Orders count for the end of a term as they were when it ended: a release and the removal of an order may be one write.
  const ordersBefore = line.orders;
  line.orders = orders;
  if (holder === "") {
    endTerm(line, atMs, "released", { ...ordersBefore, ...orders });
    if (isFirst) line.gaps.push({ fromMs: atMs, reason: vacancy(orders), after: "", isUpperBound: false });
    return;
  }
  replicaOf(line, holder);
  const before = presentTerm(line);
  if (
    before &&
    before.holder === holder &&
    before.acquired === acquired &&
    before.transitions === transitions
  ) {
    before.leaseMs = leaseMs;
    renewed(line, atMs);
    return;
  }
  if (isFirst && seen.expiresInMs !== undefined && seen.expiresInMs <= 0) {
    const fromMs = atMs + seen.expiresInMs;
    line.fromMs = Math.min(line.fromMs, fromMs);
    line.gaps.push({ fromMs, reason: "expired", after: holder, isUpperBound: true });
    return;
  }
  if (before) endTerm(line, atMs, endingBy(before, holder, atMs));
  const gap = presentGap(line);
  if (gap) gap.toMs = atMs;
  const fromMs = isFirst ? atMs - (seen.heldForMs ?? 0) : atMs;
  line.fromMs = Math.min(line.fromMs, fromMs);
  line.terms.push({
    holder,
    fromMs,
    isStartSeen: !isFirst || token !== undefined,
    transitions,
    leaseMs,
    lastSignMs: atMs,
    // In the first state seen, the lease counts from the last renewal; afterwards from when a change was seen.
    expiresMs: atMs + (isFirst ? (seen.expiresInMs ?? leaseMs) : leaseMs),
    ...(acquired !== undefined && { acquired }),
    ...(token !== undefined && { token }),
  });
  if (line.terms.length > mostTerms) forget(line);
}

/** The next holder may have seen the last renewal a little earlier than this observer did. */
const observationDelay = 0.1;

function endingBy(before: Term, holder: string, atMs: number): Ending {
  if (before.holder === holder) return "restarted";
  return atMs >= before.expiresMs - before.leaseMs * observationDelay ? "expired" : "replaced";
}

function vacancy(orders: LockSeen["orders"]): "paused" | "vacant" {
  return orders?.paused ? "paused" : "vacant";
}

function renewed(line: ElectionLine, atMs: number): void {
  const term = presentTerm(line);
  if (!term) return;
  term.lastSignMs = atMs;
  term.expiresMs = atMs + term.leaseMs;
  line.renewals.push(atMs);
  if (line.renewals.length > mostRenewals) line.renewals.splice(0, mostRenewals / 2);
}

function expire(line: ElectionLine, nowMs: number): void {
  const term = presentTerm(line);
  if (term && nowMs >= term.expiresMs) endTerm(line, term.expiresMs, "expired");
}

function endTerm(line: ElectionLine, atMs: number, ending: Ending, orders = line.orders): void {
  const term = presentTerm(line);
  if (!term) return;
  term.toMs = atMs;
  term.ending = ending;
  // A replica releases the lock when its work has stopped. It may report that later than the next leader starts.
  if (ending === "released") endWork(line, term.holder, atMs);
  // A replica that works beyond its lease says so. One that says nothing is frozen or gone, and nobody knows what it does.
  if (ending === "expired") endWork(line, term.holder, atMs);
  const gap = gapAfter(line, term, ending, atMs, orders);
  if (gap) line.gaps.push(gap);
}

function reported(line: ElectionLine, seen: ReplicaReported): void {
  const { atMs, id, phase, works, token, deadlineInMs, healthy, message } = seen;
  const replica = replicaOf(line, id);
  delete replica.lostMs;
  delete replica.deadlineMs;
  Object.assign(replica, { phase, healthy, message, reportedMs: atMs });
  if (deadlineInMs !== undefined) replica.deadlineMs = atMs + deadlineInMs;
  reportWork(line, { id, works, atMs, token, phase });
  const term = presentTerm(line);
  if (token !== undefined && term?.holder === id) nameTerm(term, token);
}

/** The observer may have missed the write that began the term; its holder knows. */
function nameTerm(term: Term, token: string): void {
  term.token ??= token;
}

function shares(line: ElectionLine, { atMs, owners }: SharesSeen): void {
  const before = line.owners ?? owners;
  for (const [share, to] of owners.entries()) {
    const from = before[share] ?? "";
    if (from !== to) line.moves.push({ atMs, share, from, to });
    if (to !== "") replicaOf(line, to);
  }
  if (line.moves.length > mostNotes) line.moves.splice(0, line.moves.length - mostNotes);
  line.owners = [...owners];
}

function forget(line: ElectionLine): void {
  const dropped = mostTerms / 10;
  line.terms.splice(0, dropped);
  line.forgottenTerms += dropped;
  const fromMs = line.terms[0]?.fromMs ?? line.fromMs;
  line.fromMs = fromMs;
  line.gaps = line.gaps.filter(({ toMs }) => toMs === undefined || toMs > fromMs);
  line.work = line.work.filter(({ toMs }) => toMs === undefined || toMs > fromMs);
}
