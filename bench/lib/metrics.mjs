// @ts-check
/**
 * Reads from the API server's metrics how many requests for Leases it has answered. The server counts a watch when it ends, so
 * open watches come from the gauge of long-running requests.
 */
import { setTimeout as delay } from "node:timers/promises";
import { monoMs } from "./clock.mjs";

/**
 * @typedef {object} LeaseTraffic
 * @property {number} atMs
 * @property {Record<string, number>} byVerb
 * @property {number} openWatches
 */

/** @param {import("./api.mjs").Api} api @returns {Promise<LeaseTraffic>} */
async function leaseTraffic(api) {
  const text = await api.text("GET", "/metrics");
  /** @type {LeaseTraffic} */
  const traffic = { atMs: monoMs(), byVerb: {}, openWatches: 0 };
  for (const line of text.split("\n")) {
    const found = /^(apiserver_request_total|apiserver_longrunning_requests)\{(.*)\} (\S+)$/.exec(line);
    if (!found?.[2]?.includes('resource="leases"')) continue;
    const verb = /verb="([^"]+)"/.exec(found[2])?.[1] ?? "?";
    if (found[1] === "apiserver_longrunning_requests") traffic.openWatches += Number(found[3]);
    else traffic.byVerb[verb] = (traffic.byVerb[verb] ?? 0) + Number(found[3]);
  }
  return traffic;
}

/**
 * @typedef {object} Rate
 * @property {number} perMinute
 * @property {Record<string, number>} byVerb per minute
 * @property {number} openWatches
 */

/**
 * @param {import("./api.mjs").Api} api
 * @param {number} windowMs
 * @returns {Promise<Rate>}
 */
export async function leaseRate(api, windowMs) {
  const before = await leaseTraffic(api);
  await delay(windowMs);
  const after = await leaseTraffic(api);
  const minutes = (after.atMs - before.atMs) / 60_000;
  const byVerb = Object.fromEntries(
    Object.entries(after.byVerb).map(([verb, count]) => [
      verb,
      (count - (before.byVerb[verb] ?? 0)) / minutes,
    ]),
  );
  return { perMinute: sum(byVerb), byVerb, openWatches: after.openWatches };
}

/** @param {Rate} rate @param {Rate} baseline @returns {Rate} */
export function subtractBaseline(rate, baseline) {
  const byVerb = Object.fromEntries(
    Object.entries(rate.byVerb).map(([verb, perMinute]) => [
      verb,
      Math.max(0, perMinute - (baseline.byVerb[verb] ?? 0)),
    ]),
  );
  return { perMinute: sum(byVerb), byVerb, openWatches: rate.openWatches - baseline.openWatches };
}

/** @param {Record<string, number>} values */
function sum(values) {
  return Object.values(values).reduce((total, value) => total + value, 0);
}
