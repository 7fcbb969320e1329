// @ts-check
/** What can happen to a running system. Each fault strikes, and some end again; the world must be whole after `heal`. */

/**
 * @typedef {object} World
 * @property {import("./replica.mjs").Replica[]} replicas
 * @property {() => Promise<void>} restartApi
 * @property {() => Promise<void>} deleteLease
 * @property {number} leaseMs
 *
 * @typedef {(world: World, random: () => number) => { what: string, done?: Promise<unknown> }} Fault
 */

/** @template T @param {T[]} items @param {() => number} random @returns {T} */
const pick = (items, random) => /** @type {T} */ (items[Math.floor(random() * items.length)]);

/**
 * Leaders are struck three times out of four: what happens to the others is less interesting.
 * @param {World} world
 * @param {() => number} random
 */
function victim({ replicas }, random) {
  const alive = replicas.filter((replica) => replica.isAlive);
  const leading = alive.filter((replica) => replica.hasWorker);
  return pick(leading.length > 0 && random() < 0.75 ? leading : alive, random);
}

/** Needs clocks that can be set. */
export const clockSteps = "set the clock";

/** @type {Record<string, Fault>} */
export const faults = {
  "kill -9": (world, random) => {
    const replica = victim(world, random);
    return { what: replica.id, done: replica.crash(random() * world.leaseMs, random() < 0.3) };
  },
  "freeze past the lease": (world, random) => {
    const replica = victim(world, random);
    return { what: replica.id, done: replica.freeze(world.leaseMs * (1.1 + random())) };
  },
  "freeze shortly": (world, random) => {
    const replica = victim(world, random);
    return { what: replica.id, done: replica.freeze(world.leaseMs * random()) };
  },
  "block the event loop": (world, random) => {
    const replica = victim(world, random);
    const blockMs = world.leaseMs * 1.5 * random();
    replica.block(blockMs);
    return { what: `${replica.id} for ${blockMs.toFixed(0)} ms` };
  },
  "slow network": (world, random) => network(world, random, "slow"),
  partition: (world, random) => network(world, random, "black-hole"),
  "connection refused": (world, random) => network(world, random, "refusing"),
  "half-close": (world, random) => {
    const replica = victim(world, random);
    replica.proxy.halfClose();
    return { what: replica.id };
  },
  "cut connections": (world, random) => {
    const replica = victim(world, random);
    replica.proxy.cut();
    return { what: replica.id };
  },
  "graceful stop": (world, random) => {
    const replica = victim(world, random);
    return { what: replica.id, done: replica.stop(random() * 1_000) };
  },
  [clockSteps]: (world, random) => {
    const replica = victim(world, random);
    // Mostly by little, which may or may not cost a term; now and then by an hour, as after a battery was empty.
    const byMs = random() < 0.2 ? 3_600_000 : world.leaseMs * 4 * random();
    const offsetMs = Math.round(random() < 0.5 ? byMs : -byMs);
    replica.clock?.set(offsetMs);
    return { what: `${replica.id} to ${offsetMs} ms of the true time` };
  },
  "restart the API server": (world) => ({ what: "", done: world.restartApi() }),
  "delete the lease": (world) => ({ what: "", done: world.deleteLease() }),
};

/**
 * @param {World} world
 * @param {() => number} random
 * @param {import("./proxy.mjs").Mood} mood
 */
function network(world, random, mood) {
  const replica = victim(world, random);
  const forMs = world.leaseMs * 2 * random();
  replica.proxy.set(mood);
  const done = new Promise((resolve) => setTimeout(resolve, forMs)).then(() => replica.proxy.set("fine"));
  return { what: `${replica.id} for ${forMs.toFixed(0)} ms`, done };
}
