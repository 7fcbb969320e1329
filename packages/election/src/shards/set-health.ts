import type { Health } from "../health.ts";

interface SetHealthFacts {
  readonly nowMs: number;
  readonly leaseDurationMs: number;
  /** How long work may take to stop after it was asked to. */
  readonly stopTimeoutMs: number;
  /** The description of the set. */
  readonly set: string;
  readonly lastContactMs: number;
  /** What a shard is called here. */
  readonly noun: "shard" | "permit";
  /** The work that has not stopped. */
  readonly work: readonly {
    readonly index: number;
    readonly isValid: boolean;
    readonly askedToStopMs: number | undefined;
  }[];
}

/** The health of a member that runs. */
export function setHealthOf(facts: SetHealthFacts): Health {
  const { nowMs, leaseDurationMs, stopTimeoutMs, set, lastContactMs, noun, work } = facts;
  const expired = work.find(({ isValid }) => !isValid);
  if (expired)
    return { healthy: false, message: `${noun} ${expired.index} is lost, but its work has not stopped` };
  const late = work.find(
    ({ askedToStopMs }) => askedToStopMs !== undefined && nowMs - askedToStopMs >= stopTimeoutMs,
  );
  if (late) {
    const seconds = Math.round((nowMs - (late.askedToStopMs ?? nowMs)) / 1_000);
    const message = `the work of ${noun} ${late.index} was asked to stop ${seconds} s ago and has not stopped`;
    return { healthy: false, message };
  }
  const silentMs = nowMs - lastContactMs;
  if (silentMs > 2 * leaseDurationMs)
    return { healthy: false, message: `no contact with ${set} for ${Math.round(silentMs / 1_000)} s` };
  const [count, plural] = [work.length, work.length === 1 ? "" : "s"];
  return { healthy: true, message: count === 0 ? "waiting" : `working on ${count} ${noun}${plural}` };
}
