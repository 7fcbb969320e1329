// @ts-check
/** The faults that the test injects. `done` resolves when a fault has ended; a fault without it has no duration. */

/**
 * @typedef {object} World
 * @property {import("./replica/replica.mjs").Replica[]} replicas
 * @property {() => Promise<void>} deleteLease
 * @property {number} leaseMs
 *
 * @typedef {(world: World, random: () => number) => { detail: string, done?: Promise<unknown> }} Fault
 */

/** @template T @param {T[]} items @param {() => number} random @returns {T} */
const pick = (items, random) => /** @type {T} */ (items[Math.floor(random() * items.length)]);

/**
 * Picks a leader three times out of four: faults of the other replicas are less interesting.
 * @param {World} world
 * @param {() => number} random
 * @param {(replica: import("./replica/replica.mjs").Replica) => boolean} [isSuitable]
 */
function pickReplica({ replicas }, random, isSuitable = () => true) {
  const alive = replicas.filter((replica) => replica.isAlive && isSuitable(replica));
  const leading = alive.filter((replica) => replica.hasWorker);
  return pick(leading.length > 0 && random() < 0.75 ? leading : alive, random);
}

/** This fault needs libfaketime. */
export const clockSteps = "set the clock";

/** @type {Record<string, Fault>} */
export const faults = {
  "kill -9": (world, random) => {
    const replica = pickReplica(world, random);
    return { detail: replica.id, done: replica.crash(random() * world.leaseMs, random() < 0.3) };
  },
  "freeze past the lease": (world, random) => {
    const replica = pickReplica(world, random);
    return { detail: replica.id, done: replica.freeze(world.leaseMs * (1.1 + random())) };
  },
  "freeze shortly": (world, random) => {
    const replica = pickReplica(world, random);
    return { detail: replica.id, done: replica.freeze(world.leaseMs * random()) };
  },
  "freeze with its work": (world, random) => {
    // If its watchdog is frozen too, nobody can kill work that does not check the clock.
    const replica = pickReplica(world, random, ({ kind }) => kind.checks);
    if (!replica) return { detail: "nobody" };
    return { detail: replica.id, done: replica.freezeAll(world.leaseMs * (0.5 + random())) };
  },
  "kill the work": (world, random) => {
    const replica = pickReplica(world, random);
    replica.killWork();
    return { detail: replica.id };
  },
  "block the event loop": (world, random) => {
    const replica = pickReplica(world, random);
    const blockMs = world.leaseMs * 1.5 * random();
    if (!replica.block(blockMs)) return { detail: replica.id, done: replica.freeze(blockMs) };
    return { detail: `${replica.id} for ${blockMs.toFixed(0)} ms` };
  },
  "slow network": (world, random) => network(world, random, "slow"),
  partition: (world, random) => network(world, random, "black-hole"),
  "connection refused": (world, random) => network(world, random, "refusing"),
  "half-close": (world, random) => {
    const replica = pickReplica(world, random);
    replica.proxy.halfClose();
    return { detail: replica.id };
  },
  "cut connections": (world, random) => {
    const replica = pickReplica(world, random);
    replica.proxy.cut();
    return { detail: replica.id };
  },
  "graceful stop": (world, random) => {
    const replica = pickReplica(world, random);
    return { detail: replica.id, done: replica.stop(random() * 1_000) };
  },
  [clockSteps]: (world, random) => {
    const replica = pickReplica(world, random);
    // Mostly by a few seconds, which may or may not end a term; sometimes by an hour, as after an empty battery.
    const byMs = random() < 0.2 ? 3_600_000 : world.leaseMs * 4 * random();
    // The watchdog of `tenure run` does not see the wrong clock, and would take the deadlines of an earlier one for past.
    const isBack = replica.kind.canGoBack && random() < 0.5;
    const offsetMs = Math.round(isBack ? -byMs : byMs);
    replica.clock?.set(offsetMs);
    return { detail: `${replica.id} by ${offsetMs} ms` };
  },
  "delete the lease": (world) => ({ detail: "", done: world.deleteLease() }),
};

/**
 * @param {World} world
 * @param {() => number} random
 * @param {import("./proxy.mjs").NetworkMode} mode
 */
function network(world, random, mode) {
  const replica = pickReplica(world, random);
  const forMs = world.leaseMs * 2 * random();
  replica.proxy.setMode(mode);
  const done = new Promise((resolve) => setTimeout(resolve, forMs)).then(() =>
    replica.proxy.setMode("normal"),
  );
  return { detail: `${replica.id} for ${forMs.toFixed(0)} ms`, done };
}
