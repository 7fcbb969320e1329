/** What can be broken on purpose, and for whom. */
import { SandboxError } from "../errors.ts";

export type FaultEffect =
  /** Answers later. */
  | { latencyMs: number }
  /** Refuses with this status instead of doing anything. */
  | { status: 409 | 429 | 500 | 503; retryAfterSeconds?: number }
  /** Never answers; nothing is done. */
  | "hang"
  /** Closes the connection; nothing is done. */
  | "drop"
  /** Does what was asked, then closes the connection instead of answering. */
  | "lose-answer"
  /** Watches stay open and silent until the fault is removed; then they catch up. */
  | "stall-watch"
  /** Closes watches: those that are open now, and new ones as soon as they are. */
  | "cut-watch";

export interface FaultSpec {
  /** get, list, watch, create, update, patch, delete, deletecollection. @default every verb */
  verb?: string;
  /** Plural, with the subresource if there is one: `leases`, `pods/status`. @default every resource */
  resource?: string;
  /** @default every namespace */
  namespace?: string;
  /** Name of the object. @default every name */
  name?: string;
  /** Part of the user's name or of the User-Agent. @default every client */
  client?: string;
  /** After so many times the fault removes itself. @default no limit */
  times?: number;
  /** How likely it strikes when it could, from 0 to 1. @default 1 */
  probability?: number;
  effect: FaultEffect;
}

/** What a request is, as far as faults look at it. */
export interface FaultTarget {
  verb: string;
  resource: string;
  namespace: string;
  name: string;
  user: string;
  userAgent: string;
}

export function matchesTarget(spec: FaultSpec, target: FaultTarget): boolean {
  return (
    (spec.verb === undefined || spec.verb === target.verb) &&
    (spec.resource === undefined || spec.resource === target.resource) &&
    (spec.namespace === undefined || spec.namespace === target.namespace) &&
    (spec.name === undefined || spec.name === target.name) &&
    (spec.client === undefined || target.user.includes(spec.client) || target.userAgent.includes(spec.client))
  );
}

const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
const words = ["hang", "drop", "lose-answer", "stall-watch", "cut-watch"];
const statuses = [409, 429, 500, 503];
const knownFields = ["verb", "resource", "namespace", "name", "client", "times", "probability", "effect"];

/** Checks what may come from outside; reports every problem at once. */
export function parseFault(value: unknown): FaultSpec {
  const problems: string[] = [];
  const spec = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const bad = (name: string, expected: string) =>
    problems.push(`${name} must be ${expected}: ${JSON.stringify(spec[name])}`);
  for (const name of Object.keys(spec))
    if (!knownFields.includes(name)) problems.push(`unknown field ${JSON.stringify(name)}`);
  if (spec.verb !== undefined && !verbs.includes(spec.verb as string))
    bad("verb", `one of ${verbs.join(", ")}`);
  for (const name of ["resource", "namespace", "name", "client"]) {
    if (spec[name] !== undefined && typeof spec[name] !== "string") bad(name, "a string");
  }
  if (spec.times !== undefined && !(Number.isInteger(spec.times) && (spec.times as number) > 0))
    bad("times", "a whole number above 0");
  const chance = spec.probability;
  if (chance !== undefined && !(typeof chance === "number" && chance >= 0 && chance <= 1))
    bad("probability", "from 0 to 1");
  if (!isEffect(spec.effect)) {
    bad("effect", `{latencyMs}, {status: ${statuses.join("|")}} or one of ${words.join(", ")}`);
  }
  if (problems.length > 0)
    throw new SandboxError("INVALID_OPTION", `Cannot add the fault: ${problems.join("; ")}`);
  return spec as unknown as FaultSpec;
}

function isEffect(effect: unknown): effect is FaultEffect {
  if (typeof effect === "string") return words.includes(effect);
  if (typeof effect !== "object" || effect === null) return false;
  const { latencyMs, status, retryAfterSeconds } = effect as Record<string, unknown>;
  const wait =
    retryAfterSeconds === undefined ||
    (Number.isInteger(retryAfterSeconds) && (retryAfterSeconds as number) >= 0);
  if (status !== undefined) return statuses.includes(status as number) && wait;
  return typeof latencyMs === "number" && latencyMs >= 0;
}
