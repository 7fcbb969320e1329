// @ts-check
/**
 * The longest outage of the API server in which no leader loses leadership. The server is frozen (SIGSTOP) right before a renewal
 * is due, which is the worst moment, and resumed after x seconds. Both kinds lead several elections at different phases and go
 * through the same outages. x is found by bisection, separately for each kind.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/candidates.mjs";
import { monoMs, until } from "../lib/clock.mjs";
import { killAll } from "./scenario.mjs";

/** @typedef {import("./scenario.mjs").CandidateProcess} CandidateProcess */
/** @typedef {import("./scenario.mjs").Kind} Kind */

/** Elections of each kind: enough phases that at some moment both kinds are about to renew. */
const elections = 6;
const resolutionMs = 250;
/** The search range in milliseconds; tenure stops after 10 s at the latest. */
const range = { ours: [4_000, 9_000], "client-go": [7_000, 13_000] };
const periodMs = { ours: 3_000, "client-go": 2_000 };
/** A renewal that is due sooner than this may already be in flight. */
const nearestMs = 25;
/** How long after the outage pending renewals are answered and leaders that gave up have reported it. */
const decisionMs = 4_000;

/** @type {import("./scenario.mjs").Scenario} */
export const outage = {
  name: "outage",
  async run({ candidates, api, cluster, namespace, report }) {
    const name = await namespace("outage");
    /** @type {Map<string, number>} when each holder's last renewal was seen */
    const renewedMs = new Map();
    const endWatch = await api.watchLeases(name, ({ lease, seenMs }) =>
      renewedMs.set(lease.spec.holderIdentity ?? "", seenMs),
    );
    let started = 0;
    const start = async (/** @type {Kind} */ kind) => {
      started += 1;
      const candidate = candidates.start(kind, { namespace: name, name: `lease-${started}` });
      await candidate.leads();
      await delay(Math.random() * periodMs[kind]);
      return candidate;
    };
    /** @type {Record<Kind, CandidateProcess[]>} */
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
            `outage: ${outageMs} ms, starting ${leadMs[kind].toFixed(0)} ms before a renewal: ${kind} lost ${lost.length} of ${elections}`,
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
        scenario: "outage",
        figure: "longest without losing leadership",
        unit: "s",
        ours: found.ours.survivedMs / 1_000,
        clientGo: found["client-go"].survivedMs / 1_000,
        atLeast: 6.5,
        note: `accurate to ${resolutionMs} ms; client-go gives up 12 s after its last renewal was confirmed; tenure gives up 10 s after it was sent, which is what makes it safe`,
      },
    ];
  },
};

/** @param {CandidateProcess} leader */
function hasLost(leader) {
  return (
    leader.hasExited ||
    leader.lines.some(({ event }) => event === "stopped-leading" || event === "work-stopped")
  );
}

/** A busy machine may wake this process after the chosen moment; then it tries again. */
const attempts = 10;
const latestMs = 250;

/**
 * @param {Record<Kind, CandidateProcess[]>} leaders
 * @param {ReadonlyMap<string, number>} renewedMs
 */
async function untilWorstMoment(leaders, renewedMs) {
  for (let attempt = 1; ; attempt++) {
    const leadMs = await untilBestGuess(leaders, renewedMs);
    if (attempt === attempts || Math.max(...Object.values(leadMs)) <= latestMs) return leadMs;
  }
}

/**
 * Waits for the moment within the next six seconds at which a renewal is most imminent for both kinds: it minimises the longer of
 * the two remaining times.
 *
 * @param {Record<Kind, CandidateProcess[]>} leaders
 * @param {ReadonlyMap<string, number>} renewedMs
 * @returns {Promise<Record<Kind, number>>} the remaining time for each kind
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
  if (kubeApiServer === undefined) throw new Error("Cannot freeze kube-apiserver: it is not running");
  const resumeAtMs = monoMs() + forMs;
  process.kill(kubeApiServer, "SIGSTOP");
  try {
    await until(resumeAtMs);
  } finally {
    process.kill(kubeApiServer, "SIGCONT");
  }
}
