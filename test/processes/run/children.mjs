// @ts-check
/** Programs that a leader may be asked to run: well-behaved and not. Each is a command with its arguments. */

/** @param {string} script @returns {string[]} */
const shell = (script) => ["sh", "-c", script];

/** @param {string} script @param {string[]} [flags] @returns {string[]} */
const node = (script, flags = []) => [process.execPath, ...flags, "-e", script];

/** Stops as soon as it is told to. */
export const obedient = shell("echo up; exec sleep 1000");

/** Takes a while to stop. @param {number} seconds */
export const slowToStop = (seconds) =>
  shell(`trap 'sleep ${seconds}; echo stopped; exit 0' TERM; echo up; while :; do sleep 0.05; done`);

/** Whatever ignores a signal hands that on to all that it starts. */
export const ignoresSigterm = shell("trap '' TERM; echo up; while :; do sleep 1; done");

export const forksGrandchildren = shell(
  "sleep 1000 & sh -c 'sleep 1000 & sleep 1000 & wait' & (sleep 1000 & sleep 1000) & echo up; wait",
);

/** Two daemons: each leaves the group and the session of its parent, which ends. The inner one prints "up". */
export const daemonises = shell(
  `(setsid sh -c '(setsid sh -c "echo up; exec sleep 1000" &); exec sleep 1000' &); exec sleep 1000`,
);

/** The daemon alone is left when the child has ended. */
export const leavesDaemon = shell("setsid sh -c '(sleep 1000 &)'; echo up; exit 0");

export const floods = shell("echo up; exec yes a line that is printed again and again");

export const crashes = shell("echo up; exit 3");

export const endsWell = shell("echo up; exit 0");

/** Its memory grows until its runtime gives up, by a signal; it also leaves a process behind. */
export const leaks = node(
  `require("node:child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).unref();
   console.log("up"); const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length));`,
  ["--max-old-space-size=32"],
);

/** Cannot listen to anybody for a minute, also not to SIGTERM, for which it has a handler. */
export const blocks = node(
  `process.on("SIGTERM", () => process.exit(0)); console.log("up");
   Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);`,
);

/** Says which signals it gets. */
export const listens = node(
  `for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"]) process.on(signal, () => console.log(signal));
   process.on("SIGTERM", () => process.exit(0)); console.log("up"); setInterval(() => {}, 1_000);`,
);

/** Prints what it was given. */
export const printsEnvironment = shell("env | grep ^TENURE_ | sort; exec sleep 1000");
