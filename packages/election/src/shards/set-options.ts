/** The options that shards and semaphores have in common. Every problem with them is reported at once, before anything runs. */
import {
  type Clock,
  nearest,
  oneOfProblem,
  type Problem,
  quote,
  readDuration,
  wholeNumberProblem,
} from "@tenure/base";
import {
  type Config,
  checkIdentity,
  checkTimings,
  mostShards,
  type SetConfig,
  type TimingOptions,
} from "@tenure/core";
import type { KubeClient } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import { invalidOptions } from "../errors.ts";
import { environment } from "../platform.ts";
import type { SetKind } from "./lease-set-store.ts";
import type { SetMetrics } from "./set-metrics.ts";
import type { SetStore } from "./set-store.ts";

/** The options that `Shards` and `Semaphore` have in common. */
export interface SetOptions extends TimingOptions {
  /** The name of the set. All replicas that share the work use the same name. At most 50 characters. */
  readonly name: string;
  /** The namespace of the Leases. @default $NAMESPACE, $POD_NAMESPACE, or the namespace of the kubeconfig's context or of the pod */
  readonly namespace?: string;
  /** Every two live members must have different identities. @default $POD_NAME */
  readonly identity?: string;
  /** The path of a kubeconfig. @default $KUBECONFIG, the pod's service account, or ~/.kube/config */
  readonly kubeconfig?: string;
  /** The context of the kubeconfig. @default the kubeconfig's current context */
  readonly context?: string;
  /** The client for all requests. @default one for the member lease and one for everything else, so that no other request delays a renewal */
  readonly client?: KubeClient;
  /**
   * Wait one leaseDuration before a new set is used. Without this, a member that starts right after somebody deleted all Leases of
   * the set cannot know that their holders may still be working. @default false
   */
  readonly waitWhenAbsent?: boolean;
  /** Reject `run` when the API server answers 401 or 403, instead of reporting an error and retrying. @default false */
  readonly failWhenDenied?: boolean;
  /**
   * What to do if work still runs at the hard deadline of the member lease, or `stopTimeout` after it was asked to stop. "exit" kills
   * this process. "report" only emits `overrun`. @default "exit"
   */
  readonly onOverrun?: OverrunAction;
  /** How long the work may take to stop when its shard moves or this member leaves. false: no limit. @default "1m" */
  readonly stopTimeout?: string | false;
  /** How long a shard or permit rests after its work has ended by itself. @default retryPeriod */
  readonly cooldown?: string;
  /** Where the measurements are reported. @default none */
  readonly metrics?: SetMetrics;
  /** Time, for tests. @default the machine's clock */
  readonly clock?: Clock;
  /** A number in [0, 1). @default Math.random */
  readonly random?: () => number;
  /** Replaces the Kubernetes API, for tests. @default Leases */
  readonly store?: SetStore;
}

const overrunActions = ["exit", "report"] as const;
type OverrunAction = (typeof overrunActions)[number];

/** A label with the name must fit into 63 characters. */
const longestName = 50;

/** What differs between shards and permits. */
export interface SetShape {
  readonly kind: SetKind;
  /** The name of the option with the count. */
  readonly countOption: "count" | "permits";
  readonly count: unknown;
  readonly maxMoving: unknown;
}

const knownOptions = [
  "name",
  "namespace",
  "identity",
  "kubeconfig",
  "context",
  "client",
  "waitWhenAbsent",
  "failWhenDenied",
  "onOverrun",
  "stopTimeout",
  "cooldown",
  "metrics",
  "clock",
  "random",
  "store",
  "preset",
  "leaseDuration",
  "renewDeadline",
  "retryPeriod",
  "renewInterval",
  "stopWithin",
];

/** Throws an error that names every problem with the options. */
export function checkSetOptions(
  options: SetOptions,
  { kind, countOption, count, maxMoving }: SetShape,
): { readonly lease: Config; readonly set: SetConfig } {
  const timings = checkTimings(options);
  const identity = checkIdentity(options.identity ?? environment("POD_NAME"));
  const problems: Problem[] = [...timings.problems, ...identity.problems];
  const allowed = [...knownOptions, countOption, ...(kind === "shards" ? ["maxMoving"] : [])];
  for (const option of Object.keys(options))
    if (!allowed.includes(option)) problems.push(unknownOption(option, allowed));
  problems.push(...nameProblems(options));
  checkCount(countOption, count, problems);
  if (!(typeof maxMoving === "number" && Number.isInteger(maxMoving) && maxMoving >= 1)) {
    problems.push(wholeNumberProblem("maxMoving", 1, maxMoving));
  }
  const cooldownMs =
    options.cooldown === undefined
      ? timings.value?.retryPeriodMs
      : readDuration("cooldown", options.cooldown, problems, { mayBeZero: true });
  const { stopTimeout = "1m", onOverrun = "exit" } = options;
  const drainTimeoutMs =
    stopTimeout === false ? Number.POSITIVE_INFINITY : readDuration("stopTimeout", stopTimeout, problems);
  if (!overrunActions.includes(onOverrun))
    problems.push(oneOfProblem("onOverrun", overrunActions, onOverrun));
  if (
    !timings.value ||
    identity.value === undefined ||
    cooldownMs === undefined ||
    drainTimeoutMs === undefined ||
    problems.length > 0
  ) {
    throw invalidOptions(kind === "shards" ? "set up the shards" : "set up the semaphore", problems);
  }
  const { waitWhenAbsent = false, failWhenDenied = false } = options;
  const { leaseDurationMs, retryPeriodMs, attemptTimeoutMs } = timings.value;
  return {
    // The set, not the lease, decides how long work may take to stop. And the map shows whether an absent lease had a holder.
    lease: {
      identity: identity.value,
      timings: timings.value,
      waitWhenAbsent: false,
      failWhenDenied,
      cooldownMs: 0,
    },
    set: {
      identity: identity.value,
      count: count as number,
      leaseDurationMs,
      retryPeriodMs,
      attemptTimeoutMs,
      mostPerMember: kind === "shards" ? Number.POSITIVE_INFINITY : 1,
      maxMoving: maxMoving as number,
      passOn: kind === "permits",
      waitWhenAbsent,
      cooldownMs,
      drainTimeoutMs,
    },
  };
}

function nameProblems({ name, namespace }: SetOptions): Problem[] {
  const problems = [
    nameProblem("name", name),
    namespace === undefined ? undefined : nameProblem("namespace", namespace),
  ].filter((problem) => problem !== undefined);
  if (problems.length === 0 && name.length > longestName) {
    const value = `${quote(name)} with ${name.length} characters`;
    problems.push({ field: "name", rule: `must have at most ${longestName} characters`, value });
  }
  return problems;
}

function checkCount(field: string, count: unknown, problems: Problem[]): void {
  if (typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= mostShards) return;
  problems.push({ field, rule: `must be a whole number from 1 to ${mostShards}`, value: quote(count) });
}

function unknownOption(option: string, allowed: readonly string[]): Problem {
  const meant = nearest(option, allowed);
  return {
    field: option,
    rule: "is not an option",
    ...(meant !== undefined && { fix: `did you mean ${meant}?` }),
  };
}
