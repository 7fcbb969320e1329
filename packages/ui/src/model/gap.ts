/** The time without a leader that follows a term, and the reason for it. Pure. */
import type { ElectionLine, Ending, Gap, GapReason, Term } from "./election.ts";
import type { OrdersSeen } from "./observation.ts";

/** Undefined if another term follows at once. */
export function gapAfter(
  line: ElectionLine,
  term: Term,
  ending: Ending,
  atMs: number,
  orders: OrdersSeen,
): Gap | undefined {
  const { holder: after } = term;
  switch (ending) {
    case "released":
      return { fromMs: atMs, after, isUpperBound: false, ...orderedBy(orders) };
    case "expired":
      return { after, ...silence(line, term, atMs) };
    case "deleted":
    case "unreadable":
      return { fromMs: atMs, after, isUpperBound: false, reason: ending };
    case "replaced":
    case "restarted":
      return undefined;
  }
}

function orderedBy(orders: OrdersSeen): { reason: GapReason; detail?: string } {
  const { paused, pausedBy, pauseReason, stepDown, transferTo } = orders;
  if (paused) {
    const detail = [...(pausedBy ? [`by ${pausedBy}`] : []), ...(pauseReason ? [pauseReason] : [])].join(
      ": ",
    );
    return { reason: "paused", ...(detail !== "" && { detail }) };
  }
  if (transferTo !== undefined) return { reason: "transfer", detail: `to ${transferTo}` };
  return { reason: stepDown ? "step-down" : "handover" };
}

/** Why a holder stopped renewing, and since when it has not led. */
function silence(
  line: ElectionLine,
  { holder, lastSignMs }: Term,
  expiredMs: number,
): { fromMs: number; reason: GapReason; isUpperBound: boolean } {
  const replica = line.replicas.find(({ id }) => id === holder);
  const { lostMs, reportedMs, phase } = replica ?? {};
  if (lostMs !== undefined && lostMs >= lastSignMs && lostMs <= expiredMs)
    return { fromMs: lostMs, reason: "crash", isUpperBound: false };
  if (reportedMs === undefined || lostMs !== undefined)
    return { fromMs: lastSignMs, reason: "expired", isUpperBound: true };
  // It spoke after its last renewal, and not as a leader.
  if (reportedMs > lastSignMs && phase !== "leader" && phase !== "pre-leader")
    return { fromMs: reportedMs, reason: "cut-off", isUpperBound: false };
  return { fromMs: Math.max(lastSignMs, reportedMs), reason: "frozen", isUpperBound: true };
}
