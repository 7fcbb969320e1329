// @ts-check
/**
 * Compares the shards of tenure with the buckets of Knative on one kube-apiserver. Prints a Markdown table; progress goes to stderr.
 *
 *     npm run bench:shards        # about eight minutes
 *
 * Knative allows ten buckets at most. Each is an election of client-go: its members do not share them evenly, whoever is first owns them.
 */
import { cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startCluster } from "../test/kube/cluster.mjs";
import { buildGoMember } from "./knative/build.mjs";
import { Api } from "./lib/api.mjs";
import { CandidateProcesses } from "./lib/candidates.mjs";
import { leaseRate, subtractBaseline } from "./lib/metrics.mjs";
import { Owners } from "./lib/owners.mjs";

/** @typedef {import("./lib/candidates.mjs").CandidateProcess} Member */
/** @typedef {"ours" | "knative"} Kind */

const memberCount = 5;
const windowMs = 60_000;
/** By then every member has its share. */
const settleMs = 20_000;
/** After a crash, the shards are taken when the lease of 15 s has expired. */
const takeoverMs = 60_000;

const startedMs = performance.now();
/** @param {string} line */
const report = (line) =>
  console.error(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s  ${line}`);

const cluster = await startCluster();
const api = new Api(cluster);
/** @type {CandidateProcesses | undefined} */
let processes;
try {
  const knative = await buildGoMember();
  processes = await CandidateProcesses.create(cluster.kubeconfigPath, {
    ours: [process.execPath, fileURLToPath(new URL("shard-member.mjs", import.meta.url))],
    knative: [knative.path],
  });
  const { gitVersion } = await api.json("GET", "/version");
  const load = loadavg()[0]?.toFixed(1);
  report(
    `kube-apiserver ${gitVersion}, knative.dev/pkg ${knative.version}, node ${process.version}, ${cpus().length} cores, load ${load} at the start`,
  );
  report("measuring the API server's own Lease requests");
  const baseline = await leaseRate(api, windowMs);
  const ours = await measure(processes, "ours", 10, baseline);
  const theirs = await measure(processes, "knative", 10, baseline);
  const many = await measureIdle(processes, "ours", 1_000, baseline);
  await processes.killAll();
  /** @param {string} name @param {(figures: typeof ours) => string} of */
  const row = (name, of) => `| ${name} | ${of(ours)} | ${of(theirs)} |`;
  console.log(
    [
      `| ${memberCount} members, 10 shards | tenure | Knative |`,
      "| --- | --- | --- |",
      row("Lease requests per minute, nothing changes", ({ perMinute }) => perMinute.toFixed(0)),
      row("shards of each member", ({ shares }) => shares.join(", ")),
      row("shards of each member after a sixth has joined", ({ sharesWithSixth }) =>
        sharesWithSixth.join(", "),
      ),
      row("a member stops: longest time that one of its shards has no owner", ({ stop }) => duration(stop)),
      row("a member is killed: longest time that one of its shards has no owner", ({ kill }) =>
        duration(kill),
      ),
      row("two owners at the same time", ({ overlaps }) => String(overlaps)),
      `| 1,000 shards: Lease requests per minute | ${many.perMinute.toFixed(0)} | at most 10 buckets |`,
    ].join("\n"),
  );
} finally {
  await processes?.close();
  api.close();
  await cluster.stop();
}

/** @param {number | undefined} ms */
function duration(ms) {
  return ms === undefined
    ? "it owned nothing"
    : ms < 1_000
      ? `${ms.toFixed(0)} ms`
      : `${(ms / 1_000).toFixed(1)} s`;
}

/**
 * @param {CandidateProcesses} starter
 * @param {Kind} kind
 * @param {number} count
 * @param {import("./lib/metrics.mjs").Rate} baseline
 */
async function measure(starter, kind, count, baseline) {
  const { members, owners, perMinute, start } = await measureIdle(starter, kind, count, baseline);
  const shares = owners.shares(members);
  report(`${kind}: a sixth member joins`);
  members.push(start());
  await delay(settleMs);
  const sharesWithSixth = owners.shares(members);

  report(`${kind}: the member with the most shards stops`);
  const stopping = owners.largest(members);
  const stopped = owners.shardsOf(stopping);
  const beforeStopMs = performance.now();
  await stopping.stop();
  await owners.allOwned(count, takeoverMs);
  report(
    `${kind}: all shards have owners after ${((performance.now() - beforeStopMs) / 1_000).toFixed(1)} s`,
  );
  const stop = owners.longestGap(stopped);
  await delay(settleMs);

  report(`${kind}: the member with the most shards is killed`);
  const killing = owners.largest(members.filter((member) => !member.hasExited));
  const killed = owners.shardsOf(killing);
  owners.killed(killing);
  await killing.kill();
  await owners.allOwned(count, takeoverMs);
  const kill = owners.longestGap(killed);
  await starter.killAll();
  return { perMinute, shares, sharesWithSixth, stop, kill, overlaps: owners.overlaps };
}

/**
 * @param {CandidateProcesses} starter
 * @param {Kind} kind
 * @param {number} count
 * @param {import("./lib/metrics.mjs").Rate} baseline
 */
async function measureIdle(starter, kind, count, baseline) {
  report(`${kind}: ${memberCount} members, ${count} shards`);
  const namespace = `shards-${kind}-${count}`;
  await api.createNamespace(namespace);
  const owners = new Owners();
  const start = () => {
    const member = starter.start(kind, { namespace, name: "set", count });
    owners.follow(member);
    return member;
  };
  const members = Array.from({ length: memberCount }, start);
  await owners.allOwned(count, takeoverMs);
  await delay(settleMs);
  const { perMinute } = subtractBaseline(await leaseRate(api, windowMs), baseline);
  return { members, owners, perMinute, start };
}
