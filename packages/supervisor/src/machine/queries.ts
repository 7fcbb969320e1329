/** Questions about a state at a given moment. Each answer depends on the clock, not on a flag that must be set in time. */
import type { Instant } from "@tenure/base";
import type { Phase } from "./phase.ts";
import type { Child, Config, RunningChild, State, Term } from "./types.ts";

/** The supervisor kills this much earlier than the watchdog, which acts only if the supervisor cannot. */
const beforeWatchdogMs = 25;
/** How long a gate may take to close. The next leader waits for it too. */
const gateCloseTimeoutMs = 5_000;
/** The time for gates if the child used all of its own. The rest of the second by which timeouts nest is for the release. */
const gateReserveMs = 500;
/** How often a watchdog is checked if there is no term, as a part of this length. */
const usualTermMs = 15_000;

export function phaseOf({ run, term }: State): Phase {
  if (run === "terminating") return "terminating";
  if (!term) return "follower";
  if (term.ending) return term.ending.gaveUp && !term.hasLed ? "follower" : "pre-follower";
  return term.hasLed ? "leader" : "pre-leader";
}

/** How long until this moment, by whichever clock reaches it first. */
export function timeLeftMs(until: Instant, at: Instant): number {
  return Math.min(until.monoMs - at.monoMs, until.wallMs - at.wallMs);
}

/** When the processes of the term are killed if it is not renewed: early enough to be dead by the deadline (G1). */
export function outOfTimeMs({ killMarginMs }: Config, { deadline }: Term, at: Instant): number {
  return at.monoMs + timeLeftMs(deadline, at) - killMarginMs - beforeWatchdogMs;
}

/** Whether the term is served: work may be started for it. */
export function isServed(state: State): boolean {
  return state.term !== undefined && state.term.ending === undefined && state.run === "running";
}

/** Whether processes of the child run that may do the work of the term. */
export function isWorking(child: Child): boolean {
  return child.name === "running" && child.duty.name !== "waits";
}

/** When the child is killed. Infinity: it may run. A further query can only give an earlier time. */
export function killDueMs(config: Config, state: State, child: RunningChild, at: Instant): number {
  const { term } = state;
  const { stop, duty } = child;
  const quietMs = duty.name === "quiesces" ? duty.sinceMs : Number.POSITIVE_INFINITY;
  const askedMs = Math.min(stop?.sinceMs ?? Number.POSITIVE_INFINITY, quietMs);
  // However long it may take to stop, it does not run without a watchdog for longer than a lease.
  const unguardedMs = state.watchdog.unguardedAtMs + heartbeatMs(state);
  const stopMs = Math.min(askedMs + config.stopTimeoutMs, unguardedMs);
  if (!isWorking(child)) return stopMs;
  // Work without a term is never right.
  if (!term) return at.monoMs;
  return term.ending?.kind === "lost" ? Math.min(stopMs, outOfTimeMs(config, term, at)) : stopMs;
}

/** When the hook that the child waits for is stopped. */
export function hookDueMs(config: Config, state: State, at: Instant): number {
  const { hook, term } = state;
  if (!hook) return Number.POSITIVE_INFINITY;
  // A child that will not be started needs no preparation.
  const isStartWanted = isServed(state) || (config.warm && state.run === "running");
  if (hook.name === "preStart") return isStartWanted ? hook.endAtMs : at.monoMs;
  if (!term?.ending) return hook.endAtMs;
  const endMs = Math.min(hook.endAtMs, term.ending.sinceMs + config.stopTimeoutMs);
  return term.ending.kind === "lost" ? Math.min(endMs, outOfTimeMs(config, term, at)) : endMs;
}

/** Clients may reach the child: it is ready and works for a valid term. It still does while it stops on purpose. */
export function mayBeReached(config: Config, { term, child }: State, at: Instant): boolean {
  if (!term || term.ending?.kind === "lost" || outOfTimeMs(config, term, at) <= at.monoMs) return false;
  if (child.name !== "running" || !child.isReady || child.duty.name === "waits") return false;
  return child.stop === undefined || child.stop.end.type === "term-ended";
}

/** Until when the end of the term waits for the gates. */
export function gatesDueMs({ stopTimeoutMs }: Config, { gates, term }: State): number {
  if (!gates.closing || !term?.ending) return Number.POSITIVE_INFINITY;
  // The grace period of a pod leaves little more than stopTimeout, for the child and the gates together.
  return Math.min(
    gates.closing.sinceMs + gateCloseTimeoutMs,
    term.ending.sinceMs + stopTimeoutMs + gateReserveMs,
  );
}

/** Whether a watchdog listens that knows the present deadline. */
export function isGuarded({ watchdog }: State): boolean {
  return watchdog.name === "ready" && watchdog.answered >= watchdog.guardAsk;
}

/** Whether there is something to guard. */
export function needsGuard({ term, child }: State): boolean {
  return term !== undefined || child.name === "running" || child.name === "preparing";
}

/** How often the watchdog has to answer: five times in a lease. */
export function heartbeatMs({ term }: State): number {
  return (term?.lengthMs ?? usualTermMs) / 5;
}

/** A watchdog that does not answer for this long is replaced. A busy machine needs up to a second. */
export function silenceMs({ term }: State): number {
  return Math.max(((term?.lengthMs ?? usualTermMs) * 2) / 5, 1_000);
}

/**
 * How long a child may run after its watchdog ended, before it is stopped. Together with the interval of the heartbeats, the
 * longest silence and the time to stop, this is one lease.
 */
export function unguardedMs(state: State): number {
  return Math.min(Math.max(heartbeatMs(state), 1_000), 5_000);
}
