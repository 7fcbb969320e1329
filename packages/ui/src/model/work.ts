/** Who worked when, by the reports of the replicas. */
import { type ElectionLine, presentTerm, type Work } from "./election.ts";

interface Report {
  readonly id: string;
  readonly works: boolean;
  readonly atMs: number;
  readonly token: string | undefined;
  readonly phase: string;
}

export function reportWork(line: ElectionLine, { id, works, atMs, token, phase }: Report): void {
  const open = openWork(line, id);
  if (open && (!works || (token !== undefined && open.token !== undefined && open.token !== token)))
    open.toMs = atMs;
  if (!works || (open && open.toMs === undefined)) return;
  // A replica that wakes up says that it stops until it has found out that its work was stopped while it was frozen.
  const isUnsure = presentTerm(line)?.holder !== id && (phase === "pre-follower" || phase === "terminating");
  line.work.push({
    id,
    fromMs: atMs,
    isWitnessed: false,
    ...(isUnsure && { isUnsure }),
    ...(token !== undefined && { token }),
  });
}

/** The replica cannot be asked any more, or has said in the record that its work has stopped. */
export function endWork(line: ElectionLine, id: string, atMs: number): void {
  const open = openWork(line, id);
  if (open) open.toMs = Math.max(open.fromMs, atMs);
}

function openWork(line: ElectionLine, id: string): Work | undefined {
  return line.work.findLast((work) => work.id === id && work.toMs === undefined);
}
