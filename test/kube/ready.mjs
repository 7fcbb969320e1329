// @ts-check
/** Waiting until a server answers, no longer than it lives and no longer than a deadline. */
import { readFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 25;
const attemptTimeoutMs = 2_000;
const tailLines = 25;
const tailBytes = 8_192;

/** The port that was free when it was chosen is not any more. */
export class PortTakenError extends Error {}

/**
 * @param {object} options
 * @param {import("./process.mjs").ServerProcess} options.process
 * @param {string} options.logFile
 * @param {number} options.timeoutMs
 * @param {() => Promise<boolean>} options.probe
 */
export async function untilReady({ process, logFile, timeoutMs, probe }) {
  const deadline = performance.now() + timeoutMs;
  /** @type {unknown} */
  let last = "no answer";
  while (performance.now() < deadline) {
    // Asked before each probe, so that somebody else's server on the same port is not taken for ours.
    if (process.hasExited()) {
      const log = await tail(logFile);
      const how = await process.exited;
      const message = `Cannot start ${process.name} as it ended (${how}) before it was ready; the end of ${logFile}:\n${log}`;
      throw log.includes("address already in use") ? new PortTakenError(message) : new Error(message);
    }
    try {
      if (await probe()) return;
      last = "not ready";
    } catch (error) {
      last = error;
    }
    await delay(pollMs);
  }
  throw new Error(
    `Cannot start ${process.name} as it was not ready within ${timeoutMs} ms (${last}); the end of ${logFile}:\n${await tail(logFile)}`,
  );
}

/**
 * @param {string} url
 * @param {{ ca?: string, token?: string }} [access]
 * @returns {Promise<boolean>} whether it answers 200
 */
export function answersOk(url, { ca, token } = {}) {
  return new Promise((resolve, reject) => {
    const options = {
      // No pooled connection: one that a restart left half dead must not answer for the new server.
      agent: false,
      timeout: attemptTimeoutMs,
      headers: token ? { authorization: `Bearer ${token}` } : {},
    };
    /** @param {http.IncomingMessage} response */
    const onResponse = (response) => {
      response.resume();
      response.once("error", reject);
      response.once("end", () => resolve(response.statusCode === 200));
    };
    const request = url.startsWith("https:")
      ? https.get(url, { ...options, ...(ca ? { ca } : {}) }, onResponse)
      : http.get(url, options, onResponse);
    request.once("timeout", () => request.destroy(new Error(`${url} did not answer`)));
    request.once("error", reject);
  });
}

/**
 * @param {string} logFile
 * @returns {Promise<string>} its last lines
 */
export async function tail(logFile) {
  const text = await readFile(logFile, "utf8").catch((error) => String(error));
  return text.trimEnd().split("\n").slice(-tailLines).join("\n").slice(-tailBytes);
}
