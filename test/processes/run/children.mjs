// @ts-check
/** Children for `tenure run`, well-behaved and not. Each is a command with its arguments. */

/** @param {string} script @returns {string[]} */
const shell = (script) => ["sh", "-c", script];

/** @param {string} script @param {string[]} [flags] @returns {string[]} */
const node = (script, flags = []) => [process.execPath, ...flags, "-e", script];

/** Stops at once on SIGTERM. */
export const obedient = shell("echo up; exec sleep 1000");

/** Takes a while to stop. @param {number} seconds */
export const slowToStop = (seconds) =>
  shell(`trap 'sleep ${seconds}; echo stopped; exit 0' TERM; echo up; while :; do sleep 0.05; done`);

/** The processes that it starts inherit that they ignore SIGTERM. */
export const ignoresSigterm = shell("trap '' TERM; echo up; while :; do sleep 1; done");

export const forksGrandchildren = shell(
  "sleep 1000 & sh -c 'sleep 1000 & sleep 1000 & wait' & (sleep 1000 & sleep 1000) & echo up; wait",
);

/** Two daemons: each leaves the group and the session of its parent, which ends. The inner one prints "up". */
export const daemonises = shell(
  `(setsid sh -c '(setsid sh -c "echo up; exec sleep 1000" &); exec sleep 1000' &); exec sleep 1000`,
);

/** Exits, and leaves a daemon behind. */
export const leavesDaemon = shell("setsid sh -c '(sleep 1000 &)'; echo up; exit 0");

export const floods = shell("echo up; exec yes a line that is printed again and again");

export const crashes = shell("echo up; exit 3");

export const endsWell = shell("echo up; exit 0");

/** Runs out of memory, which ends it by a signal, and leaves a process behind. */
export const leaks = node(
  `require("node:child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).unref();
   console.log("up"); const kept = []; for (;;) kept.push(new Array(10_000).fill(kept.length));`,
  ["--max-old-space-size=32"],
);

/** Blocks for a minute, in which its handler for SIGTERM cannot run. */
export const blocks = node(
  `process.on("SIGTERM", () => process.exit(0)); console.log("up");
   Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);`,
);

/** Prints the signals that it gets. */
export const listens = node(
  `for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"]) process.on(signal, () => console.log(signal));
   process.on("SIGTERM", () => process.exit(0)); console.log("up"); setInterval(() => {}, 1_000);`,
);

/** Prints the variables that it gets. */
export const printsEnvironment = shell("env | grep ^TENURE_ | sort; exec sleep 1000");
