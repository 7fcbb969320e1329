// @ts-check
/** Which scopes `npm run spec` checks, which rules it breaks, and which bugs of the simulator must show in its histories. */

/**
 * @typedef {{ spec: "Lease" | "TwoObjects", name: string, constants: Record<string, string | number>, isLarge?: boolean }} Run
 */

/** MaxVersion counts the versions of the lock: the absence at the start, and each write, annotation or deletion. */
const lease = {
  Procs: "{a, b}",
  Slow: "{}",
  Short: 2,
  Long: 2,
  Longest: 2,
  Events: "{}",
  WaitWhenAbsent: "FALSE",
  MaxVersion: 4,
  Mistake: '"none"',
};
const mixed = { ...lease, Slow: "{b}", Long: 3, Longest: 3 };
const restarts = { ...lease, Events: '{"restart"}' };
const annotations = { ...lease, Events: '{"annotate"}' };
const deletions = { ...lease, Events: '{"delete"}' };
const mixedDeletions = { ...mixed, Events: '{"delete"}' };
/** A process that starts after a deletion has not seen the holder, so it must wait whenever there is no lock. */
const deletionsAndRestarts = { ...lease, Events: '{"delete", "restart"}', WaitWhenAbsent: "TRUE" };
/** Somebody deletes a lock that a candidate has not seen. docs/guarantees.md says that this may lead to two leaders. */
const unseenDeletions = { ...lease, Events: '{"delete-unseen"}' };

const two = { Procs: "{a, b}", Lease: 2, Events: "{}", MaxVersion: 3, Mistake: '"none"' };
const twoWithRestarts = { ...two, Events: '{"restart"}' };
const twoWithDeletions = { ...two, Events: '{"delete"}' };

/** @type {readonly Run[]} */
export const scopes = [
  { spec: "Lease", name: "2 writes, restarts", constants: { ...restarts, MaxVersion: 3 } },
  { spec: "Lease", name: "2 writes or annotations", constants: { ...annotations, MaxVersion: 3 } },
  { spec: "Lease", name: "2 writes or deletions", constants: { ...deletions, MaxVersion: 3 } },
  { spec: "Lease", name: "2 writes, leases 2 and 3", constants: { ...mixed, MaxVersion: 3 } },
  {
    spec: "TwoObjects",
    name: "1 write per object, restarts",
    constants: { ...twoWithRestarts, MaxVersion: 2 },
  },
  { spec: "Lease", name: "3 writes, restarts", constants: restarts, isLarge: true },
  { spec: "Lease", name: "3 writes or annotations", constants: annotations, isLarge: true },
  { spec: "Lease", name: "3 writes or deletions", constants: deletions, isLarge: true },
  {
    spec: "Lease",
    name: "3 writes or deletions, restarts, waitWhenAbsent",
    constants: deletionsAndRestarts,
    isLarge: true,
  },
  { spec: "Lease", name: "3 writes or deletions, leases 2 and 3", constants: mixedDeletions, isLarge: true },
  { spec: "TwoObjects", name: "2 writes per object", constants: two, isLarge: true },
  {
    spec: "TwoObjects",
    name: "2 writes or deletions per object",
    constants: twoWithDeletions,
    isLarge: true,
  },
];

/** @param {Run["spec"]} spec @param {string} name @param {Run["constants"]} constants @param {boolean} [isLarge] @returns {Run} */
const broken = (spec, name, constants, isLarge = false) => ({
  spec,
  name,
  constants: { ...constants, Mistake: `"${name}"` },
  isLarge,
});

/** @type {readonly Run[]} */
export const mistakes = [
  broken("Lease", "count-from-answer", lease),
  broken("Lease", "wait-from-first-sight", lease),
  broken("Lease", "wait-own-lease", mixed),
  broken("Lease", "write-without-compare", lease),
  broken("Lease", "release-before-work-stops", lease),
  broken("Lease", "metadata-extends-term", annotations),
  broken("Lease", "start-from-old-campaign", deletions),
  broken("Lease", "deletion-is-release", deletions),
  broken("Lease", "token-restarts", { ...deletions, MaxVersion: 5 }),
  broken("Lease", "wait-last-seen-lease", { ...mixedDeletions, MaxVersion: 5 }, true),
  { spec: "Lease", name: "known limit: an unseen lock is deleted", constants: unseenDeletions },
  broken("TwoObjects", "hold-one", two),
  broken("TwoObjects", "wait-for-one", two),
  broken("TwoObjects", "mix-two-attempts", two),
  broken("TwoObjects", "skip-a-stage", { ...two, MaxVersion: 2 }),
  broken("TwoObjects", "extend-with-one", two, true),
  broken("TwoObjects", "deletion-is-release", { ...twoWithDeletions, MaxVersion: 4 }, true),
];

/** Bugs of packages/simulator/src/bugs.ts, and how many histories TLC gets to notice them. */
export const bugs = [
  { name: "stop-after-hard-deadline", histories: 4 },
  { name: "remote-timestamps", histories: 8 },
  { name: "watch-trusted-after-gap", histories: 8 },
  { name: "validity-from-acknowledgement", histories: 32 },
];
