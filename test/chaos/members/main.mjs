// @ts-check
/**
 * Members of a set of shards come and go, are killed and frozen, and a judge reads the history of their work:
 * `npm run chaos:members -- --minutes 10 --target sandbox,kube`. Exits with 1 if a shard had two owners, was without one for longer than
 * a lease and a second, or if shards moved over 10 % more often than necessary.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, openSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { targets } from "../targets.mjs";
import { HistoryReader } from "./history-reader.mjs";
import { judgeMembers } from "./judge.mjs";

const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "300ms", renewInterval: "500ms" };
const leaseMs = 3_000;
const settleMs = 60_000;
const [fewest, most] = [2, 6];

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    target: { type: "string", default: "sandbox" },
    shards: { type: "string", default: "16" },
    seed: { type: "string", default: "1" },
  },
});
const minutes = Number(values.minutes);
const count = Number(values.shards);
const names = values.target.split(",");
const unknown = names.filter((name) => name !== "sandbox" && name !== "kube");
if (!(minutes > 0) || !(Number.isInteger(count) && count > 0) || unknown.length > 0) {
  console.error(
    unknown.length > 0
      ? `--target must be sandbox, kube or both, but is ${values.target}`
      : `--minutes and --shards must be greater than 0, but are ${values.minutes} and ${values.shards}`,
  );
  process.exit(2);
}

/** mulberry32, as in the simulator. */
let state = Number(values.seed) >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
}

let isOk = true;
for (const name of names) isOk = (await run(name)) && isOk;
process.exit(isOk ? 0 : 1);

/** @param {string} targetName */
async function run(targetName) {
  const folder = await mkdtemp(join(tmpdir(), "tenure-members-"));
  const target = await /** @type {() => Promise<import("../targets.mjs").Target>} */ (targets[targetName])();
  const kubeconfig = join(folder, "kubeconfig");
  const history = join(folder, "history");
  await writeFile(kubeconfig, target.kubeconfig, { mode: 0o600 });
  await writeFile(history, "");
  /** @type {Map<string, { child: import("node:child_process").ChildProcess, exited: Promise<unknown> }>} */
  const members = new Map();
  let started = 0;
  /** @type {Record<string, number>} */
  const faults = {};

  const reader = new HistoryReader(history);
  const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
  const note = (/** @type {object} */ entry) =>
    appendFileSync(history, `${JSON.stringify({ atMs: nowMs(), ...entry })}\n`);
  const shardsOf = (/** @type {string} */ id) =>
    [...reader.owners().values()].filter((owner) => owner === id).length;

  function addMember() {
    const id = `m${started++}`;
    const setup = JSON.stringify({ id, name: "chaos", count, kubeconfig, timings });
    const program = new URL("./member.mjs", import.meta.url).pathname;
    const child = spawn(process.execPath, [program, setup], {
      stdio: ["ignore", openSync(history, "a"), "inherit"],
    });
    members.set(id, { child, exited: once(child, "exit") });
    // A new member gets its share of the shards.
    return Math.floor(count / members.size);
  }

  /** @param {"SIGTERM" | "SIGKILL"} signal */
  async function end(signal) {
    const id = pick();
    const least = shardsOf(id);
    const { child, exited } = /** @type {NonNullable<ReturnType<typeof members.get>>} */ (members.get(id));
    members.delete(id);
    child.kill(signal);
    if (signal === "SIGKILL") note({ what: "killed", id });
    await exited;
    return least;
  }

  async function freeze() {
    const id = pick();
    const least = shardsOf(id);
    const { child, exited } = /** @type {NonNullable<ReturnType<typeof members.get>>} */ (members.get(id));
    child.kill("SIGSTOP");
    note({ what: "frozen", id });
    await sleep(2 * leaseMs);
    child.kill("SIGCONT");
    // Its work overran, so it ends itself, or it joins again and gets its share.
    const hasEnded = await Promise.race([exited.then(() => true), sleep(1_000, false)]);
    if (hasEnded) members.delete(id);
    return least + (hasEnded ? 0 : Math.floor(count / members.size));
  }

  function pick() {
    const ids = [...members.keys()];
    return /** @type {string} */ (ids[Math.floor(random() * ids.length)]);
  }

  /** Waits until every shard has an owner, and the distribution is even. @param {number} least */
  async function settle(least) {
    const endMs = nowMs() + settleMs;
    for (;;) {
      const owners = [...reader.owners().values()];
      const sizes = [...members.keys()].map((id) => owners.filter((owner) => owner === id).length);
      if (owners.length === count && Math.max(...sizes) - Math.min(...sizes) <= 1) break;
      if (nowMs() > endMs) throw new Error(`the members have not settled within ${settleMs} ms: ${sizes}`);
      await sleep(100);
    }
    note({ what: "settled", least });
  }

  async function disturb() {
    const actions = [
      ...(members.size < most ? ["join", "join"] : []),
      ...(members.size > fewest ? ["leave", "kill", "freeze"] : []),
    ];
    const action = /** @type {string} */ (actions[Math.floor(random() * actions.length)]);
    faults[action] = (faults[action] ?? 0) + 1;
    if (action === "join") return addMember();
    if (action === "leave") return end("SIGTERM");
    return action === "kill" ? end("SIGKILL") : freeze();
  }

  const stopAll = () => {
    for (const { child } of members.values()) child.kill("SIGKILL");
  };
  process.once("exit", stopAll);
  try {
    for (let index = 0; index < 3; index += 1) addMember();
    await settle(0);
    const endMs = nowMs() + minutes * 60_000;
    while (nowMs() < endMs) await settle(await disturb());
    const { doubles, gapsMs, moves, leastMoves } = judgeMembers(reader.entries());
    const longestMs = Math.max(0, ...gapsMs);
    const isGood = doubles.length === 0 && longestMs <= leaseMs + 1_000 && moves <= leastMoves * 1.1;
    console.log(
      `${targetName}: ${JSON.stringify(faults)}, ${doubles.length} double owners, longest without an owner ${(longestMs / 1_000).toFixed(2)} s ` +
        `(limit ${(leaseMs + 1_000) / 1_000} s), ${moves} moves (least ${leastMoves})${isGood ? "" : " FAILED"}`,
    );
    for (const double of doubles.slice(0, 20)) console.log(`  ${double}`);
    return isGood;
  } finally {
    stopAll();
    process.off("exit", stopAll);
    await Promise.all([...members.values()].map(({ exited }) => exited));
    await target.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
