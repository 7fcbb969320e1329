/** Whether two replicas worked at the same time, and how that is known. Pure. */
import type { ElectionLine, Work } from "./election.ts";

interface Overlap {
  readonly first: string;
  readonly second: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface OverlapSummary {
  readonly overlaps: readonly Overlap[];
  readonly terms: number;
  /** How many of the terms had work that a replica or a witness reported. The others are known by their records only. */
  readonly reported: number;
  readonly source: "witness" | "reports" | "records";
}

/**
 * Reports of two replicas arrive by two connections, so the order of reports that are closer than this says nothing about the
 * order of the events.
 */
const reportDelayMs = 100;
/** A replica that was frozen needs a moment to find out what became of its work. */
const wakeUpMs = 1_000;

export function overlapsIn(line: ElectionLine, nowMs: number): OverlapSummary {
  const witnessed = line.work.filter(({ isWitnessed }) => isWitnessed);
  const source = witnessed.length > 0 ? "witness" : line.work.length > 0 ? "reports" : "records";
  // A witness has seen everything that replicas reported, and more exactly.
  const work = source === "witness" ? witnessed : line.work;
  const records = line.terms.length + line.forgottenTerms;
  const reported = source === "witness" ? distinctTerms(work) : reportedTerms(line, work);
  return {
    overlaps: overlapping(work, nowMs),
    terms: source === "witness" ? reported : Math.max(records, reported),
    reported,
    source,
  };
}

function distinctTerms(work: readonly Work[]): number {
  return new Set(work.map(({ id, token, fromMs }) => JSON.stringify([id, token ?? fromMs]))).size;
}

/** The terms in which their holder reported work. */
function reportedTerms(line: ElectionLine, work: readonly Work[]): number {
  let index = 0;
  let count = 0;
  for (const term of line.terms) {
    const endMs = term.toMs ?? Number.POSITIVE_INFINITY;
    while (index < work.length && (work[index]?.toMs ?? Number.POSITIVE_INFINITY) <= term.fromMs) index++;
    for (let at = index; at < work.length && (work[at] as Work).fromMs < endMs; at++) {
      if ((work[at] as Work).id !== term.holder) continue;
      count++;
      break;
    }
  }
  return count;
}

function overlapping(work: readonly Work[], nowMs: number): Overlap[] {
  const found: Overlap[] = [];
  const sorted = [...work].sort((a, b) => a.fromMs - b.fromMs);
  let longest: Work | undefined;
  for (const next of sorted) {
    if (longest) {
      const toMs = longest.toMs ?? nowMs;
      const isExact = longest.isWitnessed && next.isWitnessed;
      const endMs = Math.min(toMs, next.toMs ?? nowMs);
      const doubtMs = longest.isUnsure || next.isUnsure ? wakeUpMs : reportDelayMs;
      const isOverlap = isExact
        ? toMs >= next.fromMs
        : longest.id !== next.id && endMs - next.fromMs > doubtMs;
      if (isOverlap)
        found.push({
          first: longest.id,
          second: next.id,
          fromMs: next.fromMs,
          toMs: endMs,
        });
    }
    if (!longest || (next.toMs ?? nowMs) > (longest.toMs ?? nowMs)) longest = next;
  }
  return found;
}
