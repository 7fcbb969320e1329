// @ts-check
/** Waits until a server responds, until it exits, or until a deadline. */
import { readFile } from "node:fs/promises";
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 25;
const attemptTimeoutMs = 2_000;
const tailLines = 25;
const tailBytes = 8_192;

/** Another process took the port after it was chosen. */
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
  let last = "no response";
  while (performance.now() < deadline) {
    // Checked before each probe, so that another server on the same port is not mistaken for this one.
    if (process.hasExited()) {
      const log = await tail(logFile);
      const how = await process.exited;
      const message = `Cannot start ${process.name}: it exited (${how}) before it was ready. The end of ${logFile}:\n${log}`;
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
    `Cannot start ${process.name}: it was not ready within ${timeoutMs} ms (${last}). The end of ${logFile}:\n${await tail(logFile)}`,
  );
}

/**
 * @param {string} url
 * @param {{ ca?: string, token?: string }} [access]
 * @returns {Promise<boolean>} whether it responds with 200
 */
export function answersOk(url, { ca, token } = {}) {
  return new Promise((resolve, reject) => {
    const options = {
      // A new connection each time: a pooled one may be broken after a restart.
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
    request.once("timeout", () => request.destroy(new Error(`${url} did not respond`)));
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
