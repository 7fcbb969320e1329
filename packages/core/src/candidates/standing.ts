/** What a candidate is doing, for operators: whether it leads and, if it does not, why. Nothing is decided by it. */
import type { Instant } from "@tenure/base";
import { leaderAt } from "../queries.ts";
import type { Config, State } from "../types.ts";

type StandingName =
  /** The state of the lock is not known yet. */
  | "starting"
  | "leading"
  /** The term is over or about to end, and its work is stopping. */
  | "ending"
  /** Another candidate leads. */
  | "waiting"
  /** The lock is free, or will be soon, and this candidate tries to acquire it. */
  | "acquiring"
  /** It gave up leadership a moment ago, and lets others go first. */
  | "cooling-down"
  /** It acquires the lock only if an operator transfers leadership to it. */
  | "no-failover"
  /** An operator paused the election. */
  | "paused"
  /** The last request failed. */
  | "failing"
  | "stopping";

/** What a candidate is doing. */
export interface Standing {
  /** In one word. */
  readonly name: StandingName;
  /** One sentence for people, without a full stop. */
  readonly reason: string;
}

const standing = (name: StandingName, reason: string): Standing => ({ name, reason });

export function standingOf(config: Config, state: State, at: Instant): Standing {
  const { phase, lock } = state;
  if (phase.name === "leading") return standing("leading", "leads");
  if (phase.name !== "idle" && phase.name !== "campaigning")
    return standing("ending", `its term is ending (${phase.reason})`);
  if (state.stopping) return standing("stopping", "is stopping");
  if (phase.name === "idle" || lock.kind === "unknown")
    return standing("starting", "has not read the lock yet");
  const { orders, record } = lock.kind === "present" ? lock.view : {};
  if (orders?.paused) return standing("paused", "an operator paused the election");
  const { transfer } = orders ?? {};
  const isTransfer = transfer?.accepted === true && transfer.transitions === record?.leaseTransitions;
  if (isTransfer && transfer.to === config.identity)
    return standing("acquiring", "an operator transfers leadership to it");
  if (isTransfer) return standing("waiting", `an operator transfers leadership to ${transfer.to}`);
  const { acquireDelayMs = 0 } = config;
  if (acquireDelayMs === Number.POSITIVE_INFINITY)
    return standing("no-failover", "takes over only by a transfer (noFailover)");
  const leader = leaderAt(config, state, at);
  if (config.coordinated && leader === undefined)
    return standing("waiting", "the API server has not named it (coordinated election)");
  if (leader !== undefined) return standing("waiting", `${leader} leads`);
  if (at.monoMs < phase.notBeforeMs)
    return standing("cooling-down", "gave up leadership and lets other candidates go first");
  return acquireDelayMs > 0
    ? standing("acquiring", `waits ${acquireDelayMs} ms longer than others (priority)`)
    : standing("acquiring", "nobody leads, and it tries to");
}

export function sameStanding(a: Standing | undefined, b: Standing | undefined): boolean {
  return a?.name === b?.name && a?.reason === b?.reason;
}
