// @ts-check
/**
 * Sends many messages through many handovers and some crashes in the whole system: a Kubernetes API, a gRPC server and three
 * replicas of `tenure run`. It fails if a message is lost, or if one starts twice that was not in flight at a crash.
 *   npm run soak -- [--messages 1000000] [--handovers 20] [--crashes 5] [--concurrency 64]
 */
import { parseArgs } from "node:util";
import { faults } from "../../../examples/demo/faults.mjs";
import { System } from "../../../examples/demo/system.mjs";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "1000000" },
    handovers: { type: "string", default: "20" },
    crashes: { type: "string", default: "5" },
    concurrency: { type: "string", default: "64" },
    verbose: { type: "boolean", default: false },
  },
});
const [messages = 0, handovers = 0, crashes = 0, concurrency = 0] = [
  values.messages,
  values.handovers,
  values.crashes,
  values.concurrency,
].map(Number);

const startedMs = performance.now();
const say = (/** @type {string} */ line) =>
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(6)}s  ${line}`);
const system = new System({
  rate: Number.POSITIVE_INFINITY,
  total: messages,
  concurrency,
  log: values.verbose ? say : () => {},
});
for (const name of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(name, () => system.end());

const injectorOf = (/** @type {string} */ faultKey) =>
  /** @type {import("../../../examples/demo/faults.mjs").Fault} */ (
    faults.find(({ key }) => key === faultKey)
  ).inject;
/** A rollout of a new version: SIGTERM, and a new process a little later. @type {ReturnType<typeof injectorOf>} */
const restart = async (running, leader) => {
  const { token } = running;
  running.setCause("restarted");
  leader.restart();
  await running.nextTerm(token);
};
const ways = {
  handover: [injectorOf("s"), restart],
  crash: [injectorOf("k"), injectorOf("f"), injectorOf("c")],
};

/** Which terms ended by a crash. @type {Set<bigint>} */
const crashed = new Set();
/** @type {NodeJS.Timeout | undefined} */
let timer;
let exitCode = 1;
try {
  await system.start();
  await system.nextTerm(undefined);
  say(`${system.leader?.name} works with token ${system.token}`);
  if (!values.verbose) {
    timer = setInterval(
      () => say(`${system.service?.ledger.finished} finished, ${Math.round(system.perSecond)}/s`),
      10_000,
    );
  }
  await play();
  await system.settle(600_000);
  clearInterval(timer);
  exitCode = await report();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
} finally {
  clearInterval(timer);
  await system.close();
}
const leftovers = system.leftovers();
if (leftovers.length > 0) say(`still running: ${leftovers.join(", ")}`);
process.exit(leftovers.length === 0 ? exitCode : 1);

/** Strikes at equal distances, crashes in between handovers. */
async function play() {
  const total = handovers + crashes;
  const done = { handover: 0, crash: 0 };
  for (let step = 1; step <= total && !system.isEnding; step++) {
    const at = Math.floor((messages * step) / (total + 1));
    while ((system.service?.ledger.finished ?? 0) < at && !system.isEnding) await system.pause(5);
    const kind = done.crash * total < crashes * step - total / 2 ? "crash" : "handover";
    const way = ways[kind][done[kind]++ % ways[kind].length];
    const { leader, token } = system;
    if (!way || !leader || token === undefined || system.isEnding) return;
    if (kind === "crash") crashed.add(token);
    await way(system, leader);
    const last = system.handovers.at(-1);
    say(
      `${kind} ${done[kind]}: ${last?.from} → ${last?.to} in ${Math.round(last?.gapMs ?? 0)} ms (${last?.cause})`,
    );
  }
}

async function report() {
  const {
    placed,
    finished,
    lost,
    twice,
    startedTwice,
    restartedByTerm,
    refused,
    left,
    handovers: all,
  } = await system.summary();
  const unexplained = [...restartedByTerm].filter(
    ([token, count]) => !crashed.has(token) || count > concurrency,
  );
  const gaps = all.map(({ gapMs }) => gapMs).sort((a, b) => a - b);
  console.log(
    `messages        ${placed}, finished ${finished}, in ${Math.round((performance.now() - startedMs) / 1_000)} s`,
  );
  console.log(
    `terms           ${all.length + 1}, ${crashed.size} ended by a crash, ${left} streams ended by a leave`,
  );
  console.log(`no work for     p50 ${at(gaps, 0.5)} ms, longest ${at(gaps, 1)} ms`);
  console.log(`lost            ${lost}`);
  console.log(`finished twice  ${twice}`);
  console.log(
    `started twice   ${startedTwice} in flight at a crash: ${[...restartedByTerm.values()].join(" + ") || 0}, of at most ${concurrency} each`,
  );
  console.log(`refused         ${refused} calls with a stale token`);
  for (const [token, count] of unexplained)
    console.log(`UNEXPLAINED     ${count} of term ${token} were started twice`);
  return lost === 0 && twice === 0 && unexplained.length === 0 && all.length >= handovers + crashes ? 0 : 1;
}

/** @param {number[]} sorted @param {number} part */
function at(sorted, part) {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
}
