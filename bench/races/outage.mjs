// @ts-check
/**
 * The longest outage of the API server that costs no leader its office: the server is frozen (SIGSTOP) right before a
 * renewal is due, which is the worst moment, and thawed after x seconds. Both kinds lead several elections at different
 * phases and go through the same outages; x is found by bisection, for each kind by itself.
 */
import { setTimeout as delay } from "node:timers/promises";
import { monoMs, until } from "../lib/clock.mjs";
import { kinds } from "../lib/contestants.mjs";
import { killAll } from "./stage.mjs";

/** @typedef {import("./stage.mjs").Contestant} Contestant */
/** @typedef {import("./stage.mjs").Kind} Kind */

/** Of each kind; so many phases that at some moment both kinds are just about to renew. */
const elections = 6;
const resolutionMs = 250;
/** Where the answer is looked for, with room: the design gives 10 s at most. */
const range = { ours: [4_000, 9_000], "client-go": [7_000, 13_000] };
const periodMs = { ours: 3_000, "client-go": 2_000 };
/** Nearer than this a renewal may be on its way already. */
const nearestMs = 25;
/** After the thaw: renewals that wait are answered, and leaders that gave up have said so. */
const decisionMs = 4_000;

/** @type {import("./stage.mjs").Race} */
export const outage = {
  name: "outage",
  async run({ contestants, api, cluster, namespace, report }) {
    const name = await namespace("outage");
    /** @type {Map<string, number>} when each holder's last renewal was seen */
    const renewedMs = new Map();
    const endWatch = await api.watchLeases(name, ({ lease, seenMs }) =>
      renewedMs.set(lease.spec.holderIdentity ?? "", seenMs),
    );
    let started = 0;
    const start = async (/** @type {Kind} */ kind) => {
      started += 1;
      const contestant = contestants.start(kind, { namespace: name, name: `office-${started}` });
      await contestant.leads();
      await delay(Math.random() * periodMs[kind]);
      return contestant;
    };
    /** @type {Record<Kind, Contestant[]>} */
    const leaders = { ours: [], "client-go": [] };
    /** @type {Record<Kind, { survivedMs: number, lostMs: number }>} */
    const found = {
      ours: { survivedMs: range.ours[0] ?? 0, lostMs: range.ours[1] ?? 0 },
      "client-go": { survivedMs: range["client-go"][0] ?? 0, lostMs: range["client-go"][1] ?? 0 },
    };
    try {
      for (;;) {
        const open = kinds.filter((kind) => found[kind].lostMs - found[kind].survivedMs > resolutionMs);
        const first = open[0];
        if (!first) break;
        const outageMs = Math.round((found[first].survivedMs + found[first].lostMs) / 2);
        for (const kind of kinds) {
          while (leaders[kind].length < elections) leaders[kind].push(await start(kind));
        }
        const leadMs = await untilWorstMoment(leaders, renewedMs);
        await freeze(cluster, outageMs);
        await delay(decisionMs);
        for (const kind of kinds) {
          const lost = leaders[kind].filter(hasLost);
          const entry = found[kind];
          if (lost.length > 0) entry.lostMs = Math.min(entry.lostMs, outageMs);
          else entry.survivedMs = Math.max(entry.survivedMs, outageMs);
          report(
            `outage: of ${outageMs} ms, ${leadMs[kind].toFixed(0)} ms before a renewal: ${kind} lost ${lost.length} of ${elections}`,
          );
          leaders[kind] = leaders[kind].filter((leader) => !hasLost(leader));
          await killAll(lost);
        }
      }
    } finally {
      endWatch();
      await killAll(kinds.flatMap((kind) => leaders[kind]));
    }
    return [
      {
        race: "outage",
        figure: "longest that costs no leadership",
        unit: "s",
        ours: found.ours.survivedMs / 1_000,
        clientGo: found["client-go"].survivedMs / 1_000,
        atLeast: 6.5,
        note: `found to ${resolutionMs} ms; client-go gives up 12 s after its last renewal was confirmed, ours 10 s after it was sent, which is what makes it safe`,
      },
    ];
  },
};

/** @param {Contestant} leader */
function hasLost(leader) {
  return (
    leader.hasExited ||
    leader.lines.some(({ event }) => event === "stopped-leading" || event === "work-stopped")
  );
}

/** A machine that is busy may wake us after the moment that was chosen. */
const attempts = 10;
const latestMs = 250;

/**
 * @param {Record<Kind, Contestant[]>} leaders
 * @param {ReadonlyMap<string, number>} renewedMs
 */
async function untilWorstMoment(leaders, renewedMs) {
  for (let attempt = 1; ; attempt++) {
    const leadMs = await untilBestGuess(leaders, renewedMs);
    if (attempt === attempts || Math.max(...Object.values(leadMs)) <= latestMs) return leadMs;
  }
}

/**
 * Waits for the moment of the next six seconds at which, for the kind that is worse off, the next renewal is nearest.
 *
 * @param {Record<Kind, Contestant[]>} leaders
 * @param {ReadonlyMap<string, number>} renewedMs
 * @returns {Promise<Record<Kind, number>>} how far away it was for each kind
 */
async function untilBestGuess(leaders, renewedMs) {
  const stepMs = 5;
  const horizonMs = 6_000;
  const fromMs = monoMs() + 50;
  /** @param {Kind} kind @param {number} atMs */
  const leadMs = (kind, atMs) =>
    Math.min(
      ...leaders[kind].map(({ id }) => {
        const sinceMs = atMs + nearestMs - (renewedMs.get(id) ?? 0);
        return nearestMs + periodMs[kind] - (sinceMs % periodMs[kind]);
      }),
    );
  let best = { atMs: fromMs, costMs: Number.POSITIVE_INFINITY };
  for (let atMs = fromMs; atMs < fromMs + horizonMs; atMs += stepMs) {
    const costMs = Math.max(...kinds.map((kind) => leadMs(kind, atMs)));
    if (costMs < best.costMs) best = { atMs, costMs };
  }
  await until(best.atMs);
  const nowMs = monoMs();
  return { ours: leadMs("ours", nowMs), "client-go": leadMs("client-go", nowMs) };
}

/** @param {import("../../test/kube/cluster.mjs").Cluster} cluster @param {number} forMs */
async function freeze(cluster, forMs) {
  const { kubeApiServer } = cluster.pids();
  if (kubeApiServer === undefined) throw new Error("Cannot freeze kube-apiserver as it does not run");
  const thawMs = monoMs() + forMs;
  process.kill(kubeApiServer, "SIGSTOP");
  try {
    await until(thawMs);
  } finally {
    process.kill(kubeApiServer, "SIGCONT");
  }
}
