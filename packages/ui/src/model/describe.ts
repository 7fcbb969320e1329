/** Sentences about terms, gaps and overlaps. Pure. */
import {
  type ElectionLine,
  type Ending,
  type Gap,
  type GapReason,
  presentGap,
  presentTerm,
  type Term,
} from "./election.ts";
import type { OverlapSummary } from "./overlaps.ts";
import { spell } from "./spell.ts";

const endings: Readonly<Record<Ending, string>> = {
  released: "handed over",
  expired: "lease expired",
  replaced: "taken over",
  restarted: "new term of the same replica",
  deleted: "lock deleted",
  unreadable: "record not readable",
};

const reasons: Readonly<Record<GapReason, string>> = {
  handover: "handover",
  "step-down": "step down",
  transfer: "transfer",
  paused: "paused",
  crash: "crash",
  frozen: "frozen",
  "cut-off": "cut off from the lock",
  expired: "lease expired",
  deleted: "lock deleted",
  unreadable: "record not readable",
  vacant: "nobody took the lock",
};

export function endingOf({ ending }: Term): string {
  return ending === undefined ? "leads" : endings[ending];
}

export function reasonOf({ reason, detail }: Gap): string {
  return `${reasons[reason]}${detail === undefined ? "" : ` ${detail}`}`;
}

/** "41 ms, handover" */
export function describeGap(gap: Gap, nowMs: number): string {
  const length = spell((gap.toMs ?? nowMs) - gap.fromMs);
  return `${gap.isUpperBound ? "≤ " : ""}${length}, ${reasonOf(gap)}`;
}

/** "web-1, token 1234, 5.2 s, handed over" */
export function describeTerm(term: Term, nowMs: number): string {
  const token = term.token === undefined ? `transition ${term.transitions}` : `token ${term.token}`;
  const from = term.isStartSeen ? "" : "at least ";
  return `${term.holder}, ${token}, ${from}${spell((term.toMs ?? nowMs) - term.fromMs)}, ${endingOf(term)}`;
}

/** "0 overlaps in 312 terms, by the work that replicas reported" */
export function describeOverlaps({ overlaps, terms, reported, source }: OverlapSummary): string {
  const count = `${many(overlaps.length, "overlap")} in ${many(terms, "term")}`;
  if (source === "witness") return `${count}, by the work that a witness saw`;
  if (source === "records") return `${count}, by the records only: no replica reports its work`;
  if (reported >= terms) return `${count}, by the work that replicas reported`;
  return `${count}, by the work that replicas reported in ${reported} of them, by the records in the others`;
}

export function describeNow(line: ElectionLine, nowMs: number): string {
  if (line.problem !== undefined) return `The leader is unknown: ${line.problem}`;
  const term = presentTerm(line);
  if (term) return `${term.holder} leads for ${spell(nowMs - term.fromMs)}`;
  const gap = presentGap(line);
  return gap ? `Nobody leads: ${describeGap(gap, nowMs)}` : "Nobody has led yet";
}

export function many(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
