/** Why a replica does not lead. Pure. */
import { type ElectionLine, presentTerm, type Replica } from "./election.ts";
import { spell } from "./spell.ts";

export function standingOf(line: ElectionLine, replica: Replica, nowMs: number): string {
  const { orders, owners } = line;
  if (owners) return `owns ${owners.filter((owner) => owner === replica.id).length}`;
  const term = presentTerm(line);
  if (term?.holder === replica.id) {
    const left = `lease valid for ${spell(Math.max(0, term.expiresMs - nowMs))}`;
    if (replica.healthy === false) return `leads, ${replica.message}`;
    return replica.phase && replica.phase !== "leader"
      ? `holds the lock, ${replica.phase}, ${left}`
      : `leads, ${left}`;
  }
  if (replica.lostMs !== undefined) return `not reachable for ${spell(nowMs - replica.lostMs)}`;
  const isPresent = replica.reportedMs !== undefined || replica.state !== undefined;
  if (!isPresent) return lastSeen(line, replica.id, nowMs);
  if (replica.state !== undefined && replica.state !== "Running" && replica.reportedMs === undefined)
    return `its pod is ${replica.state}`;
  if (replica.healthy === false) return replica.message ?? "not healthy";
  if (replica.phase === "terminating") return "is shutting down";
  if (orders.paused) {
    const by = orders.pausedBy ? ` by ${orders.pausedBy}` : "";
    return `paused${by}${orders.pauseReason ? `: ${orders.pauseReason}` : ""}`;
  }
  if (orders.transferTo === replica.id) return "asked to take over";
  if (orders.transferAccepted && orders.transferTo) return `leaves the lock to ${orders.transferTo}`;
  if (term) return `waits ${spell(Math.max(0, term.expiresMs - nowMs))} unless ${term.holder} renews`;
  const own = line.terms.findLast(({ holder }) => holder === replica.id);
  const last = line.terms.at(-1);
  if (own && own === last && line.gaps.at(-1)?.reason === "step-down")
    return "cools down after it stepped down";
  return "may take the lock";
}

function lastSeen(line: ElectionLine, id: string, nowMs: number): string {
  const term = line.terms.findLast(({ holder }) => holder === id);
  return term?.toMs === undefined ? "never led" : `led until ${spell(nowMs - term.toMs)} ago`;
}
