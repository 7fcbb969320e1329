/** What an election is set up with, and its check: every problem is named at once, before anything runs. */

import type { Clock } from "@tenure/base";
import {
  type Config,
  CoreError,
  checkIdentity,
  type PresetName,
  parseDuration,
  resolveTimings,
  type TimingOptions,
} from "@tenure/core";
import { ElectionError } from "./errors.ts";
import type { Lock } from "./lock.ts";
import type { ElectionMetrics } from "./metrics.ts";
import { environment } from "./platform.ts";
import type { Term } from "./term.ts";

export interface ElectionOptions extends TimingOptions {
  /** Where the record lives. */
  readonly lock: Lock;
  /** Must differ between any two live candidates. @default $POD_NAME */
  readonly identity?: string;
  /**
   * Wait one leaseDuration where there is no lock at all. Without it, a candidate that starts right after somebody
   * deleted the lock cannot know that its holder may still be working. @default false
   */
  readonly waitWhenAbsent?: boolean;
  /** Let `run` reject when the API server says 401 or 403, rather than report it and try again. @default false */
  readonly failWhenDenied?: boolean;
  /**
   * What to do with work that still runs at the hard deadline, when another replica may start. "exit" kills this process:
   * a promise cannot be killed, and two leaders are worse than a restart. "report" only emits `overrun`. @default "exit"
   */
  readonly onOverrun?: "exit" | "report";
  /** Run the election in a thread of its own, so that busy code of the application cannot starve renewals. @default false */
  readonly worker?: boolean;
  /** Record Kubernetes Events "became leader" and "stopped leading" on the lock; needs `create` on events. @default false */
  readonly announce?: boolean;
  /** How long a candidate keeps out after its work ended or it stepped down, for another one to win. @default retryPeriod */
  readonly cooldown?: string;
  /** @default none */
  readonly metrics?: ElectionMetrics;
  /** @default the machine's */
  readonly clock?: Clock;
  /** A number in [0, 1). @default Math.random */
  readonly random?: () => number;
}

export type Work = (term: Term) => unknown;

export interface RunOptions {
  /** Ends the run: the work is stopped, then the lock is released, then `run` resolves. */
  readonly signal?: AbortSignal;
  /** End after the first term, however it ended; reject if the work threw. @default false */
  readonly once?: boolean;
}

export function checkOptions(options: ElectionOptions): Config {
  const problems: string[] = [];
  const collect = <T>(check: () => T): T | undefined => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  };
  const timings = collect(() => resolveTimings(options));
  const identity = collect(() => checkIdentity(options.identity ?? environment("POD_NAME")));
  const cooldownMs =
    options.cooldown === undefined ? timings?.retryPeriodMs : parseDuration(options.cooldown);
  if (options.cooldown !== undefined && cooldownMs === undefined) {
    problems.push(`cooldown must be a duration such as "2s": ${JSON.stringify(options.cooldown)}`);
  }
  if (typeof options.lock?.read !== "function") problems.push("lock must be a lock, for example a LeaseLock");
  if (options.onOverrun !== undefined && options.onOverrun !== "exit" && options.onOverrun !== "report") {
    problems.push(`onOverrun must be "exit" or "report": ${JSON.stringify(options.onOverrun)}`);
  }
  if (options.worker && !options.lock?.spec) {
    problems.push(
      "worker needs a lock that can be made again in a thread: one of this package, without a client of its own",
    );
  }
  if (!timings || identity === undefined || cooldownMs === undefined || problems.length > 0) {
    throw new ElectionError("InvalidOptions", `Cannot set up the election: ${problems.join("; ")}.`);
  }
  const { waitWhenAbsent = false, failWhenDenied = false } = options;
  return { identity, timings, waitWhenAbsent, failWhenDenied, cooldownMs };
}

export type { PresetName };
