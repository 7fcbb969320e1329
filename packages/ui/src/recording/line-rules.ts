/** Which fields each kind of line has. A recording may come from anywhere, and a page must not fail on it. */
import type { Observation } from "../model/observation.ts";

type FieldType = "text" | "number" | "flag" | "texts" | "orders" | "candidates";
/** A question mark means that the field may be missing. */
type Fields = Readonly<Record<string, FieldType | `${FieldType}?`>>;

const ofElection = { election: "text" } as const;

const kinds: Readonly<Record<Observation["kind"], Fields>> = {
  lock: {
    ...ofElection,
    holder: "text",
    transitions: "number",
    leaseMs: "number",
    acquired: "text?",
    token: "text?",
    heldForMs: "number?",
    expiresInMs: "number?",
    orders: "orders?",
  },
  renewed: ofElection,
  deleted: ofElection,
  unreadable: { ...ofElection, problem: "text" },
  replica: {
    ...ofElection,
    id: "text",
    phase: "text",
    works: "flag",
    healthy: "flag",
    message: "text",
    token: "text?",
    deadlineInMs: "number?",
  },
  lost: { ...ofElection, id: "text" },
  work: { ...ofElection, id: "text", fromMs: "number", toMs: "number", token: "text?" },
  candidates: { ...ofElection, candidates: "candidates" },
  shares: { ...ofElection, owners: "texts" },
  note: { ...ofElection, text: "text" },
  watch: { up: "flag", message: "text?" },
  time: {},
};

const orderFields: Fields = {
  paused: "flag?",
  pausedBy: "text?",
  pauseReason: "text?",
  stepDown: "flag?",
  transferTo: "text?",
  transferAccepted: "flag?",
};

/** What is wrong with a line, or undefined. */
export function problemIn(line: Readonly<Record<string, unknown>>): string | undefined {
  const { kind } = line;
  if (typeof kind !== "string") return "it has no kind";
  if (!Object.hasOwn(kinds, kind)) return "unknown kind";
  return firstProblem(line, { atMs: "number", ...kinds[kind as Observation["kind"]] });
}

function firstProblem(value: Readonly<Record<string, unknown>>, fields: Fields): string | undefined {
  for (const [field, rule] of Object.entries(fields)) {
    const isOptional = rule.endsWith("?");
    if (value[field] === undefined && isOptional) continue;
    const type = rule.replace("?", "") as FieldType;
    if (!isOf(type, value[field])) return `${field} must be ${articles[type]}`;
  }
  return undefined;
}

const articles: Readonly<Record<FieldType, string>> = {
  text: "a text",
  number: "a number",
  flag: "true or false",
  texts: "a list of texts",
  orders: "an object with orders",
  candidates: "a list of objects with id and state",
};

function isOf(type: FieldType, value: unknown): boolean {
  switch (type) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "flag":
      return typeof value === "boolean";
    case "texts":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "orders":
      return isObject(value) && firstProblem(value, orderFields) === undefined;
    case "candidates":
      return (
        Array.isArray(value) &&
        value.every(
          (item) => isObject(item) && firstProblem(item, { id: "text", state: "text" }) === undefined,
        )
      );
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
