// @ts-check
import { setTimeout as delay } from "node:timers/promises";

/** CLOCK_MONOTONIC in milliseconds. The candidates use it too, so times can be compared between processes. */
export function monoMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @param {number} atMs by monoMs() */
export async function until(atMs) {
  const leftMs = atMs - monoMs();
  if (leftMs > 0) await delay(leftMs);
}
