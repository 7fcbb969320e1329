// Measures elections on PostgreSQL and etcd, with three candidates of the library in this process and the default timings.
//   npm run build && npm run bench:stores [-- --handovers 50]
// The servers run on this machine, without fsync. One run takes about three minutes.
import { Election } from "@tenure/election";
import { EtcdLock } from "@tenure/etcd";
import { PostgresLock } from "@tenure/postgres";
import { startEtcd } from "../test/stores/etcd.mjs";
import { startPostgres } from "../test/stores/postgres.mjs";

const flag = process.argv.indexOf("--handovers");
const handovers = flag > 0 ? Number(process.argv[flag + 1]) : 50;
const idleMs = 60_000;

const percentile = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const print = (name, text) => console.log(`${name.padEnd(58)}${text}`);

/** Counts the requests of a lock. */
function counted(lock, counts) {
  const [read, write] = [lock.read.bind(lock), lock.write.bind(lock)];
  lock.read = (...args) => {
    counts.reads += 1;
    return read(...args);
  };
  lock.write = (...args) => {
    counts.writes += 1;
    return write(...args);
  };
  return lock;
}

async function measure(store, newLock) {
  const counts = { reads: 0, writes: 0 };
  let stoppedMs = 0;
  let onLead = () => {};
  const gaps = [];
  const shutdown = new AbortController();
  const elections = ["a", "b", "c"].map(
    (identity) => new Election({ lock: counted(newLock(), counts), identity, cooldown: "0s" }),
  );
  const runs = elections.map((election) =>
    election.run(async ({ signal }) => {
      if (stoppedMs > 0) gaps.push(performance.now() - stoppedMs);
      onLead(election);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      stoppedMs = performance.now();
    }, shutdown),
  );
  const nextLeader = () =>
    new Promise((resolve) => {
      onLead = resolve;
    });
  let leader = await nextLeader();
  await wait(1_000);
  for (let round = 0; round < handovers; round++) {
    const next = nextLeader();
    leader.stepDown({ cooldown: "100ms" });
    leader = await next;
    await wait(200);
  }
  print(`${store}: handover, p50`, `${percentile(gaps, 0.5).toFixed(1)} ms (target ≤ 15 ms)`);
  print(`${store}: handover, p95`, `${percentile(gaps, 0.95).toFixed(1)} ms`);
  await wait(5_000);
  const before = { ...counts };
  await wait(idleMs);
  const perMinute = (name) => (((counts[name] - before[name]) * 60_000) / idleMs).toFixed(0);
  print(`${store}: idle, writes per minute, 3 candidates`, `${perMinute("writes")} (target ≤ 20)`);
  print(`${store}: idle, reads per minute, 3 candidates`, `${perMinute("reads")} (target 0)`);
  shutdown.abort();
  await Promise.all(runs);
}

const postgres = await startPostgres();
await measure("PostgreSQL", () => new PostgresLock({ name: "bench", url: postgres.primary.candidateUrl }));
await postgres.stop();

const etcd = await startEtcd({ members: 3 });
await measure("etcd, three members", () => new EtcdLock({ name: "bench", endpoints: etcd.endpoints }));
await etcd.stop();
