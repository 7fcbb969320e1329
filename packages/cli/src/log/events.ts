/**
 * Every event of the JSON log, with its fields. docs/reference/log.md and docs/reference/log.schema.json are generated from it.
 * An event or a field is never renamed or removed within a major version. New ones may be added.
 */

/** `?` at the end: the field may be absent. */
type FieldType =
  | `${"string" | "number" | "boolean" | "string|null" | "number[]" | "object"}?`
  | "string"
  | "number"
  | "boolean"
  | "string|null"
  | "number[]"
  | "object";

export interface EventFacts {
  readonly about: string;
  readonly fields: Readonly<Record<string, readonly [FieldType, string]>>;
}

/** The fields of every line. */
export const lineFields: EventFacts["fields"] = {
  level: ["string", "`info`, `warn` or `error`"],
  time: ["string", "when the line was written, RFC 3339 in UTC, with milliseconds"],
  event: ["string", "what happened: one of the events below"],
  msg: ["string", "the same for people; its words may change in any version"],
  share: ["string?", "with `--shards` and `--permits`: the shard or the permit that the line is about"],
};

const identity = ["string", "identity of this replica"] as const;
const pid = ["number", "process id of the child"] as const;
const exit = ["object", "how it ended: `code`, a number, or `signal`, such as `SIGTERM`"] as const;
const why = ["string", "the reason"] as const;
const token = ["string", "fencing token of the term"] as const;
const leader = ["string|null", "identity of the leader; `null` if nobody leads"] as const;

const events = {
  started: {
    about: "the process takes part from now on",
    fields: {
      identity,
      election: ["string?", "the election, as `NAMESPACE/NAME`"],
      pid: ["number?", "process id of tenure"],
      status: ["string?", "address of the status server"],
    },
  },
  stopped: {
    about: "the process has left, and exits",
    fields: {
      identity: ["string?", "identity of this replica"],
      node: ["string?", "name of the node, for `tenure sandbox node`"],
      exitCode: ["number?", "exit code of tenure"],
      killed: ["boolean?", "whether the child had to be killed"],
    },
  },
  leading: {
    about: "this replica has become the leader",
    fields: { identity, leader: ["string?", "the same identity"], token: ["string?", token[1]] },
  },
  standby: { about: "this replica no longer runs the component", fields: { identity } },
  "leader-changed": { about: "another replica leads, or nobody does", fields: { identity, leader } },
  leader: { about: "who leads, at the interval of `--log-leader-every`", fields: { identity, leader } },
  "term-ended": {
    about: "this replica is no longer the leader",
    fields: {
      identity,
      reason: ["string", "why the term ended"],
      released: ["boolean", "whether the lock was released, so that another replica leads at once"],
    },
  },
  overrun: { about: "the term is over and its work has not stopped", fields: { identity } },
  error: {
    about: "something failed, and is tried again",
    fields: {
      identity: ["string?", "identity of this replica"],
      kind: ["string?", "kind of the failure, such as `denied` or `unreachable`"],
      code: ["string?", "code of the error"],
      omitted: ["number?", "how many equal messages were left out since the last one"],
    },
  },
  "missing-rights": { about: "all rights that this replica lacks", fields: { identity } },
  advice: { about: "a setting that is allowed but not advisable", fields: {} },
  waiting: { about: "credentials are not mounted yet", fields: {} },
  traffic: {
    about: "routing traffic failed, and is tried again",
    fields: { identity: ["string?", "identity of this replica"] },
  },
  named: {
    about: "a person or another program named the pod that receives traffic",
    fields: { identity, leader, isNamed: ["boolean", "whether it is this pod"] },
  },
  phase: {
    about: "the phase of `tenure run` changed",
    fields: { phase: ["string", "the new phase"], from: ["string?", "the phase before"] },
  },
  done: {
    about: "with `--once`: the work is done",
    fields: {
      identity,
      task: ["string", "the name of `--once`"],
      by: ["string", "identity of the replica that did it"],
      at: ["string", "when"],
    },
  },
  "child-started": {
    about: "the child runs",
    fields: { pid, restarts: ["number", "how often it was restarted in this term"] },
  },
  "child-ready": { about: "the child is ready", fields: { pid, tookMs: ["number", "how long that took"] } },
  "child-stopping": {
    about: "the child was asked to stop",
    fields: { pid, timeoutMs: ["number", "when it is killed"] },
  },
  "child-killing": {
    about: "processes get SIGKILL",
    fields: { pids: ["number[]", "process ids"] },
  },
  "child-exited": { about: "the child has exited; its descendants may still run", fields: { pid, exit } },
  "child-stopped": {
    about: "the child and its descendants have exited",
    fields: { pid, exit, killed: ["boolean", "whether SIGKILL was necessary"] },
  },
  "child-restarting": {
    about: "the child is started again",
    fields: {
      delayMs: ["number", "how long tenure waits before that"],
      restarts: ["number", "how often it was restarted in this term"],
      why,
    },
  },
  "child-gave-up": {
    about: "this replica gives up leadership because of its child",
    fields: { cooldownMs: ["number", "how long it stays out of the election"], why },
  },
  health: {
    about: "the health of the child changed, or a check failed",
    fields: {
      healthy: ["boolean", "whether the child is healthy"],
      failures: ["number", "how many checks in a row failed"],
      message: ["string?", "why the last check failed"],
    },
  },
  "shard-started": {
    about: "this replica works on a shard",
    fields: { shard: ["number", "number of the shard, from 0"], token },
  },
  "shard-ended": {
    about: "this replica no longer works on a shard",
    fields: { shard: ["number", "number of the shard"], reason: why },
  },
  "permit-started": {
    about: "this replica has a permit",
    fields: { permit: ["number", "number of the permit, from 0"], token },
  },
  "permit-ended": {
    about: "this replica no longer has a permit",
    fields: { permit: ["number", "number of the permit"], reason: why },
  },
  ready: { about: "the node runs pods", fields: { node: ["string", "name of the node"] } },
  lost: {
    about: "lines were dropped because the reader was too slow",
    fields: { dropped: ["number", "how many lines"] },
  },
} satisfies Record<string, EventFacts>;

export type LogEvent = keyof typeof events;

export const logEvents: Readonly<Record<LogEvent, EventFacts>> = events;

/** What is wrong with a line of the log, by this catalogue. For tests. */
export function lineProblems(line: string): string[] {
  const data = JSON.parse(line) as Record<string, unknown>;
  const facts = (logEvents as Readonly<Record<string, EventFacts>>)[String(data.event)];
  if (!facts) return [`there is no event ${JSON.stringify(data.event)}`];
  const fields = { ...lineFields, ...facts.fields };
  const unknown = Object.keys(data).filter((name) => !(name in fields));
  const wrong = Object.entries(fields).filter(([name, [type]]) => !hasType(data[name], type));
  return [
    ...unknown.map((name) => `${data.event} has no field ${name}`),
    ...wrong.map(([name, [type]]) => `${data.event}: ${name} is not ${type}: ${JSON.stringify(data[name])}`),
  ];
}

function hasType(value: unknown, type: FieldType): boolean {
  if (value === undefined) return type.endsWith("?");
  switch (type.replace("?", "")) {
    case "number[]":
      return Array.isArray(value) && value.every((each) => typeof each === "number");
    case "string|null":
      return value === null || typeof value === "string";
    default:
      return typeof value === type.replace("?", "") && value !== null;
  }
}
