/** Faults that a test can inject, and the requests that they affect. */
import { SandboxError } from "../errors.ts";

export interface StatusEffect {
  status: 409 | 429 | 500 | 503;
  retryAfterSeconds?: number;
}

export type FaultEffect =
  /** Delays the response. */
  | { latencyMs: number }
  /** Rejects the request with this status. The request has no effect. */
  | StatusEffect
  /** Never responds. The request has no effect. */
  | "hang"
  /** Closes the connection. The request has no effect. */
  | "drop"
  /** Executes the request, then closes the connection instead of responding. */
  | "lose-answer"
  /** Watches stay open but send nothing until the fault is removed. Then they send what they held back. */
  | "stall-watch"
  /** Closes the watches that are open, and new ones as soon as they open. */
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
  /** The fault is removed after it has struck this many times. @default no limit */
  times?: number;
  /** Probability that the fault strikes a matching request, from 0 to 1. @default 1 */
  probability?: number;
  effect: FaultEffect;
}

/** A fault, its id, and how often it has struck. */
export type ListedFault = FaultSpec & { id: number; struck: number };

export interface FaultHandle {
  readonly id: number;
  /** Removes the fault. Removing it twice does nothing. */
  remove(): void;
}

export interface Faults {
  /** Adds a fault. It stays until it is removed, cleared, or has struck `times` times. */
  add(spec: FaultSpec): FaultHandle;
  list(): ListedFault[];
  /** Returns false if there is no fault with this id. */
  remove(id: number): boolean;
  clear(): void;
}

/** The properties of a request that faults match. */
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

/** Checks a fault that may come from another process. Reports every problem at once. */
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
