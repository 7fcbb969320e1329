// @ts-check
/**
 * A leader that gets SIGTERM hands over. Measures the time until the next child works, less the time that the first child took
 * to stop: of `tenure run`, of `tenure run --warm`, and of a program with client-go that starts and stops a child.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { marked, markVariable } from "../survivors.mjs";
import { trees } from "./tree.mjs";
import { end, someTime, wait } from "./world.mjs";

/** @typedef {import("./world.mjs").World} World */
/** @typedef {import("./group.mjs").Result} Result */
/** @typedef {import("./tree.mjs").Tree} Tree */

/** A standby that has run for a while has finished its start. */
const standbyMs = 1_000;

/** With the default timings, so that a busy machine does not lose the lease. @param {World} world @param {number} index */
export function handover(world, index) {
  return measure(world, index, { child: trees.polite, flags: [] }, "up");
}

/** @param {World} world @param {number} index */
export function warm(world, index) {
  return measure(world, index, { child: trees.warm, flags: ["--warm"] }, "begun");
}

/**
 * @param {World} world
 * @param {number} index
 * @param {import("./world.mjs").Setup} setup
 * @param {"up" | "begun"} works the event with which a child begins to work
 * @returns {Promise<Result>}
 */
async function measure(world, index, setup, works) {
  const leader = await world.startLeader(setup);
  await leader.tree.timeOf(works);
  const next = await world.start({ ...setup, name: leader.name, id: "b" });
  try {
    await next.replica.logged("leader-changed", { leader: "a" });
    if (works === "begun") await next.tree.timeOf("up");
    await wait(standbyMs);
    await someTime(index);
    const sentAt = Date.now();
    leader.replica.kill("SIGTERM");
    return { ms: await sinceSigterm(sentAt, leader.tree, next.tree, works) };
  } finally {
    await end(leader, next);
  }
}

/**
 * With the default timings of client-go, which are the same.
 * @param {World} world
 * @param {number} index
 * @param {string} program the built candidate
 * @returns {Promise<Result>}
 */
export async function clientGo(world, index, program) {
  const name = world.nextName();
  const leader = await startCandidate(world, program, name, "a");
  await leader.tree.timeOf("up");
  const next = await startCandidate(world, program, name, "b");
  try {
    await next.knowsLeader;
    await wait(standbyMs);
    // The standby asks every two seconds, so this hits all moments between two requests.
    await wait((index * 737) % 2_400);
    const sentAt = Date.now();
    leader.process.kill("SIGTERM");
    return { ms: await sinceSigterm(sentAt, leader.tree, next.tree, "up") };
  } finally {
    await Promise.all([leader.stop(), next.stop()]);
  }
}

/** @param {World} world @param {string} program @param {string} name @param {string} id */
async function startCandidate(world, program, name, id) {
  const tree = await world.newTree();
  const flags = { kubeconfig: world.kubeconfig, name, id, command: 'exec bash -c "$TRIAL_CHILD"' };
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const mark = randomUUID();
  const candidate = spawn(program, words, {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      TRIAL_PIPE: tree.path,
      TRIAL_CHILD: trees.polite.at(-1),
      [markVariable]: mark,
    },
  });
  const exited = once(candidate, "exit");
  const lines = createInterface({ input: candidate.stdout });
  const knowsLeader = new Promise((resolve) => {
    lines.on("line", (line) => JSON.parse(line).event === "new-leader" && resolve(line));
  });
  const stop = async () => {
    candidate.kill("SIGTERM");
    await exited;
    // It stops only the child itself. What the child started would run for as long as the machine does.
    for (const pid of marked(mark)) process.kill(pid, "SIGKILL");
    tree.close();
  };
  return { process: candidate, tree, knowsLeader, stop };
}

/** @param {number} sentAt @param {Tree} first @param {Tree} second @param {"up" | "begun"} works */
async function sinceSigterm(sentAt, first, second, works) {
  const worksAt = await second.timeOf(works);
  const stopMs = (await first.timeOf("gone")) - (await first.timeOf("told"));
  return worksAt - sentAt - stopMs;
}
