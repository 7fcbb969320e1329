/** The options of a coordinated election. */
import { oneOfProblem, type Problem, quote, unknownOptions } from "@tenure/base";
import type { Lock } from "./lock.ts";

const unavailableActions = ["fail", "elect"] as const;

/** How a candidate takes part in a coordinated election, in which the API server chooses the leader (KEP-4355). */
export interface CoordinatedOptions {
  /** The version of this program, as in semantic versioning. The API server prefers the lowest. @example "1.4.0" */
  readonly version: string;
  /** The version whose behaviour this program has. The API server compares it first. @default version */
  readonly emulationVersion?: string;
  /** How the API server chooses. @default "OldestEmulationVersion" */
  readonly strategy?: string;
  /**
   * What to do if the API server does not serve LeaseCandidates. "fail" rejects `run`. "elect" reports it once and takes part as
   * in an election that is not coordinated. @default "fail"
   */
  readonly whenUnavailable?: (typeof unavailableActions)[number];
}

/** kube-apiserver accepts exactly these. */
const version = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
/** The name of a LeaseCandidate, which is the identity. */
const configMapKey = /^[-._a-zA-Z0-9]{1,253}$/;

interface Surroundings {
  readonly lock: Lock | undefined;
  readonly identity: string | undefined;
  readonly priority?: number | undefined;
  readonly noFailover?: boolean | undefined;
}

export function coordinatedProblems(
  options: CoordinatedOptions,
  { lock, identity, priority, noFailover }: Surroundings,
): Problem[] {
  const problems: Problem[] = [
    ...unknownOptions(options, {
      version: true,
      emulationVersion: true,
      strategy: true,
      whenUnavailable: true,
    }),
  ];
  for (const field of ["version", "emulationVersion"] as const) {
    const value = options[field];
    if (field === "emulationVersion" && value === undefined) continue;
    if (typeof value !== "string" || !version.test(value))
      problems.push({
        field: `coordinated.${field}`,
        rule: 'must be a semantic version like "1.4.0"',
        value: quote(value),
      });
  }
  const { whenUnavailable = "fail" } = options;
  if (!unavailableActions.includes(whenUnavailable))
    problems.push(oneOfProblem("coordinated.whenUnavailable", unavailableActions, whenUnavailable));
  if (lock && !lock.coordination)
    problems.push({ field: "coordinated", rule: "needs a LeaseLock, because the API server writes a Lease" });
  if (identity !== undefined && !configMapKey.test(identity))
    problems.push({
      field: "identity",
      rule: "must have only letters, digits, -, _ and . in a coordinated election, because it is the name of the LeaseCandidate",
      value: quote(identity),
    });
  for (const [field, value] of Object.entries({ priority, noFailover }))
    if (value !== undefined && value !== false)
      problems.push({
        field,
        rule: "has no effect with {coordinated}, because the API server chooses the leader",
      });
  return problems;
}

export const unavailableMessage =
  "the API server does not serve LeaseCandidates (coordination.k8s.io/v1beta1). Start kube-apiserver with " +
  "--feature-gates=CoordinatedLeaderElection=true and --runtime-config=coordination.k8s.io/v1beta1=true, " +
  'or take part without coordination: coordinated.whenUnavailable: "elect"';
