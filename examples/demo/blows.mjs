// @ts-check
/** What can be done to the leader. Each ends with the system whole again. */
/** A frozen or cut replica comes back so long after another one leads. */
const afterMs = 1_000;

/**
 * @typedef {object} Blow
 * @property {string} key
 * @property {string} does
 * @property {(system: import("./system.mjs").System, leader: import("./replica.mjs").Replica) => Promise<void>} strike
 *   resolves when another term has begun and the replica is as before
 */

/** @type {Blow[]} */
export const blows = [
  {
    key: "s",
    does: "stepping down",
    async strike(system) {
      const { token } = system;
      await system.stepDown();
      await system.nextTerm(token);
    },
  },
  {
    key: "k",
    does: "kill -9",
    async strike(system, leader) {
      const { token } = system;
      system.blame("killed");
      leader.kill();
      await system.nextTerm(token);
    },
  },
  {
    key: "c",
    does: "cutting the network of",
    async strike(system, leader) {
      const { token } = system;
      system.blame("network cut");
      leader.cut();
      await system.nextTerm(token);
      await system.pause(afterMs);
      leader.mend();
    },
  },
  {
    key: "f",
    does: "freezing",
    async strike(system, leader) {
      const { token } = system;
      system.blame("frozen");
      leader.freeze();
      await system.nextTerm(token);
      await system.pause(afterMs);
      leader.thaw();
    },
  },
];
