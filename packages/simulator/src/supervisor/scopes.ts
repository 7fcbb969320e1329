/** The small worlds that are searched: one supervised child, and every history of a few actions. */
import type { Action, Play } from "@tenure/supervisor/internal";

export interface SupervisorScope {
  readonly name: string;
  readonly options: Parameters<typeof Play.start>[0];
  readonly actions: readonly Action[];
  /** The longest history. */
  readonly depth: number;
}

const term: readonly Action[] = [
  { do: "win" },
  { do: "renew" },
  { do: "end-term" },
  { do: "lose", leftMs: 2_000 },
  { do: "pass", ms: 3_000 },
  { do: "pass", ms: 13_000 },
];
const child: readonly Action[] = [
  { do: "ready" },
  { do: "exit", code: 1 },
  { do: "terminate" },
  { do: "hurry" },
];
const watchdog: readonly Action[] = [
  { do: "watchdog-dies" },
  { do: "hold", what: "watchdog" },
  { do: "freeze", ms: 16_000 },
  { do: "die" },
];
const slow: readonly Action[] = [
  { do: "hold", what: "prepare" },
  { do: "release", what: "prepare" },
  { do: "hold", what: "gates" },
  { do: "hold", what: "spawn" },
  { do: "release", what: "spawn" },
];
const hooks = { preStart: 5_000, postStop: 5_000 };
const quick = { stopTimeoutMs: 5_000, maxRestarts: 1 };

export const shortScopes: readonly SupervisorScope[] = [
  { name: "a child and its term", options: quick, actions: [...term, ...child], depth: 7 },
  {
    name: "a watchdog that fails",
    options: quick,
    actions: [...term, ...watchdog, { do: "ready" }],
    depth: 6,
  },
  { name: "a caller that is slow", options: quick, actions: [...term, ...slow, { do: "ready" }], depth: 6 },
  {
    name: "hooks",
    options: { ...quick, hookTimeoutMs: hooks },
    actions: [...term, { do: "ready" }, { do: "exit", code: 1 }, { do: "hook", passes: true }],
    depth: 7,
  },
  {
    name: "a warm child",
    options: { ...quick, warm: true },
    actions: [...term, ...child, { do: "quiet" }, { do: "freeze", ms: 16_000 }],
    depth: 6,
  },
];

export const longScopes: readonly SupervisorScope[] = [
  ...shortScopes.map((scope) => ({ ...scope, depth: scope.depth + 2 })),
  { name: "everything", options: quick, actions: [...term, ...child, ...watchdog, ...slow], depth: 6 },
];
