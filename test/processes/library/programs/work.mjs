// @ts-check
import { setTimeout as sleep } from "node:timers/promises";

export const shutdown = new AbortController();
process.once("SIGTERM", () => shutdown.abort());

/**
 * A job in steps. A step is only done if the clock allows it at that moment.
 * @param {import("@tenure/election").Term} term
 */
export async function job(term) {
  console.log(`${term.token} ${term.identity} starts a job`);
  for (let step = 0; step < 5; step += 1) {
    await sleep(80);
    if (!term.isValid()) break;
    console.log(`${term.token} ${term.identity} does a step`);
  }
  console.log(`${term.token} ${term.identity} ends a job`);
}

/** @param {string} name */
export function lockOptions(name) {
  return { namespace: "default", name };
}

export const identity = process.argv[2] ?? "unnamed";
