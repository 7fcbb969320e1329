// @ts-check
/** `npm run trials`: tests the guarantees of `tenure run` many times with real processes, and measures the times from outside. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildGoCandidate } from "../../../../bench/client-go/build.mjs";
import { container, reasonAgainst } from "./container.mjs";
import { cut, frozen, hung, killed } from "./failures.mjs";
import { play, print } from "./group.mjs";
import { clientGo, handover, warm } from "./handover.mjs";
import { idle } from "./idle.mjs";
import { World } from "./world.mjs";

const usage = `Usage: npm run trials -- [--runs N] [--at-once K] [--idle-seconds S] [--only group,…] [--record FILE]

Failures of a leader. All processes of its child exit in time, and none is left.
  cut        it loses its connection: by the hard deadline                                            N runs (200)
  frozen     it gets SIGSTOP: by the hard deadline                                                    N runs
  killed     it gets SIGKILL: within a second                                                         N runs
  hung       its watchdog gets SIGSTOP: replaced within one lease; then SIGKILL as above              N runs
  container  it and its watchdog get SIGKILL in a PID namespace, in which tenure or tini is PID 1     N runs each

Handovers, from SIGTERM to the leader until the next child works, less the time that the first child takes to stop.
  handover   tenure run: p50 up to 40 ms                                                              N / 4 runs
  warm       tenure run --warm: p50 up to 20 ms                                                       N / 4 runs
  client-go  a program with client-go that starts and stops the same child, to compare                N / 4 runs

  idle       memory and CPU of a leading supervisor and of its watchdog                               S seconds (30)

--record also writes a recording of all elections to FILE, to look at with tenure ui --open. It takes time from what is measured.
Exits with 1 if a run or a p50 missed its limit.
`;

const all = ["cut", "frozen", "killed", "hung", "container", "handover", "warm", "client-go", "idle"];
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    "at-once": { type: "string", default: "4" },
    "idle-seconds": { type: "string", default: "30" },
    only: { type: "string", default: all.join(",") },
    record: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const runs = positive("runs");
const atOnce = positive("at-once");
const idleSeconds = positive("idle-seconds");
const chosen = values.only.split(",");
for (const name of chosen)
  if (!all.includes(name)) refuse(`--only must be one of ${all.join(", ")}, but is ${name}`);

/** @param {"runs" | "at-once" | "idle-seconds"} name */
function positive(name) {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value > 0) return value;
  return refuse(`--${name} must be a whole number of 1 or more, but is ${values[name]}`);
}

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(message);
  process.exit(2);
}

const world = await World.open();
if (values.record !== undefined) world.record(resolve(values.record));
const toDeadline = "exit of the tree, relative to the hard deadline";
const toExit = "SIGKILL to exit of the tree";
const many = { times: runs, workers: atOnce };
// One at a time, because parallel runs would falsify the time.
const few = { times: Math.ceil(runs / 4), workers: 1 };

/** @type {Record<string, () => Promise<boolean>>} */
const groups = {
  cut: () => play({ ...many, name: "cut", what: toDeadline, trial: (index) => cut(world, index) }),
  frozen: () => play({ ...many, name: "frozen", what: toDeadline, trial: (index) => frozen(world, index) }),
  killed: () => play({ ...many, name: "killed", what: toExit, trial: (index) => killed(world, index) }),
  hung: () =>
    play({ ...many, name: "hung", what: "SIGSTOP to its replacement", trial: (index) => hung(world, index) }),
  container: async () => {
    let isFine = true;
    for (const init of /** @type {const} */ (["tenure", "tini"])) {
      const reason = await reasonAgainst(init);
      const what = `${toExit}, ${init} is PID 1`;
      const trial = (/** @type {number} */ index) => container(world, index, init);
      if (reason) print("container", `not run with ${init} as PID 1: ${reason}`);
      else isFine = (await play({ ...many, name: "container", what, trial })) && isFine;
    }
    return isFine;
  },
  handover: () =>
    play({
      ...few,
      name: "handover",
      what: "SIGTERM to next child, less the stop time",
      p50LimitMs: 40,
      trial: (index) => handover(world, index),
    }),
  warm: () =>
    play({
      ...few,
      name: "warm",
      what: "SIGTERM to the term of the next child, less the stop time",
      p50LimitMs: 20,
      trial: (index) => warm(world, index),
    }),
  "client-go": async () => {
    const built = await buildGoCandidate().catch((error) => error);
    if (built instanceof Error) {
      print("client-go", `not run: ${built.message}`);
      return true;
    }
    const what = `SIGTERM to next child, less the stop time, client-go ${built.version}`;
    return play({ ...few, name: "client-go", what, trial: (index) => clientGo(world, index, built.path) });
  },
  idle: () => idle(world, idleSeconds),
};

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await world.close();
    process.exit(1);
  });
}

let isFine = true;
try {
  for (const name of chosen) isFine = ((await groups[name]?.()) ?? false) && isFine;
} finally {
  await world.close();
}
process.exit(isFine ? 0 : 1);
