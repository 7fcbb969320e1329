// @ts-check
/** The faults that the demo injects into the leader. After each one all replicas run again. */

/** How long after the next leader starts a frozen or disconnected replica recovers. */
const recoverAfterMs = 1_000;

/**
 * @typedef {object} Fault
 * @property {string} key that triggers it in the interactive demo
 * @property {(leader: string) => string} describe
 * @property {(system: import("./system.mjs").System, leader: import("./replica.mjs").Replica) => Promise<void>} inject
 *   resolves when another term has started and the replica has recovered
 */

/** @type {Fault[]} */
export const faults = [
  {
    key: "s",
    describe: (leader) => `telling ${leader} to step down`,
    async inject(system) {
      const { token } = system;
      await system.stepDown();
      await system.nextTerm(token);
    },
  },
  {
    key: "k",
    describe: (leader) => `killing ${leader} (kill -9)`,
    async inject(system, leader) {
      const { token } = system;
      system.setCause("killed");
      leader.kill();
      await system.nextTerm(token);
    },
  },
  {
    key: "c",
    describe: (leader) => `cutting the network of ${leader}`,
    async inject(system, leader) {
      const { token } = system;
      system.setCause("network cut");
      leader.cutNetwork();
      await system.nextTerm(token);
      await system.pause(recoverAfterMs);
      leader.restoreNetwork();
    },
  },
  {
    key: "f",
    describe: (leader) => `freezing ${leader}`,
    async inject(system, leader) {
      const { token } = system;
      system.setCause("frozen");
      leader.freeze();
      await system.nextTerm(token);
      await system.pause(recoverAfterMs);
      leader.unfreeze();
    },
  },
];
