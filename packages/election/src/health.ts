import type { Config } from "@tenure/core";

/** What `election.health()` says, for example to a liveness probe. */
export interface Health {
  /** False if a restart of this process would help. */
  readonly healthy: boolean;
  /** One sentence for people. */
  readonly message: string;
}

interface HealthFacts {
  readonly nowMs: number;
  readonly config: Config;
  /** The description of the lock. */
  readonly lock: string;
  readonly lastContactMs: number;
  /** The work of the term, if there is a term and its work has not stopped. */
  readonly work: { readonly isValid: boolean; readonly askedToStopMs: number | undefined } | undefined;
}

/** The health of an election that runs. */
export function healthOf({ nowMs, config, lock, lastContactMs, work }: HealthFacts): Health {
  if (work && !work.isValid) {
    return { healthy: false, message: "the term has expired, but its work has not stopped" };
  }
  const stoppingMs = work?.askedToStopMs === undefined ? 0 : nowMs - work.askedToStopMs;
  if (stoppingMs >= (config.drainTimeoutMs ?? Number.POSITIVE_INFINITY)) {
    const seconds = Math.round(stoppingMs / 1_000);
    return { healthy: false, message: `the work was asked to stop ${seconds} s ago and has not stopped` };
  }
  const silentMs = nowMs - lastContactMs;
  if (silentMs > 2 * config.timings.leaseDurationMs) {
    return { healthy: false, message: `no contact with ${lock} for ${Math.round(silentMs / 1_000)} s` };
  }
  return { healthy: true, message: work ? "leading" : "waiting" };
}
