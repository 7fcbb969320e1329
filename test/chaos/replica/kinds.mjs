// @ts-check
/** The kinds of replicas: on the library, and on `tenure run` with a child that checks the clock or does not. */
import { fork, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} Setup the configuration of a candidate
 * @property {string} name of the lock
 * @property {string} kubeconfig path
 * @property {string | undefined} lockUrl the store that holds the lock; undefined for a Lease
 * @property {boolean} sharesWatch
 * @property {{ leaseDuration: string, renewDeadline: string, retryPeriod: string }} timings
 * @property {string} folder for temporary files
 *
 * @typedef {object} Reports what a candidate tells about itself
 * @property {(pid: number) => void} started its work runs as this process
 * @property {(token: string) => void} ended its term has ended, and its work has stopped
 * @property {(text: string) => void} log
 *
 * @typedef {object} Kind
 * @property {string} title
 * @property {boolean} checks whether its work checks the clock; otherwise it must be killed in time
 * @property {boolean} canGoBack whether all its processes see the wall clock that the test sets
 * @property {(setup: Setup, id: string, env: NodeJS.ProcessEnv, reports: Reports) => import("node:child_process").ChildProcess} start
 */

const path = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));
const command = path("../../../packages/cli/bin/tenure.cjs");
const worker = path("./worker.mjs");

/** @type {Kind} */
const library = {
  title: "library",
  checks: true,
  canGoBack: true,
  start: (setup, id, env, reports) => {
    const child = fork(path("./library.mjs"), [JSON.stringify({ ...setup, id })], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env,
    });
    child.on("message", (/** @type {{ started: number }} */ { started }) => reports.started(started));
    child.stderr?.on("data", (text) => reports.log(String(text).trim()));
    return child;
  },
};

/** @param {boolean} checks @returns {Kind} */
const tenureRun = (checks) => ({
  title: checks ? "tenure run" : "tenure run, whose child never stops by itself",
  checks,
  canGoBack: false,
  start: (setup, id, env, reports) => {
    const { leaseDuration, renewDeadline, retryPeriod } = setup.timings;
    const cluster = ["--kubeconfig", setup.kubeconfig, "--lease-lock-namespace", "default"];
    const flags = [
      setup.lockUrl ? [] : cluster,
      ["--lease-lock-name", setup.name],
      ["--id", id, "--lease-duration", leaseDuration, "--renew-deadline", renewDeadline],
      ["--retry-period", retryPeriod, "--wait-when-absent", "--stop-timeout", "1s"],
      ["--log-format", "json", "--log-leader-every", "0s", "--deadline-folder", setup.folder],
    ].flat();
    // Only the candidate has a wrong wall clock, as for the library.
    const work = ["env", "-u", "LD_PRELOAD", process.execPath, worker];
    const child = spawn(process.execPath, [command, "run", ...flags, "--", ...work], {
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        ...env,
        TENURE_CHAOS_CHECKS: checks ? "yes" : "no",
        ...(setup.lockUrl && { TENURE_LOCK: setup.lockUrl }),
      },
    });
    follow(/** @type {import("node:stream").Readable} */ (child.stderr), reports);
    return child;
  },
});

/** Reads the log of `tenure run`. @param {import("node:stream").Readable} stderr @param {Reports} reports */
function follow(stderr, reports) {
  let token = "";
  createInterface({ input: stderr }).on("line", (line) => {
    if (!line.startsWith("{")) {
      reports.log(line);
      return;
    }
    const { event, level, msg, ...facts } = JSON.parse(line);
    if (event === "leading") token = facts.token;
    if (event === "child-started") reports.started(facts.pid);
    if (event === "term-ended" && token) reports.ended(token);
    // Failed requests are expected.
    if (level === "fatal" || level === "error") reports.log(msg);
  });
}

/** @type {Kind[]} the kinds of successive replicas */
export const kinds = [library, tenureRun(true), library, tenureRun(false)];
