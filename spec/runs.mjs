// @ts-check
/** Which scopes `npm run spec` checks, and which rules it breaks. */

/**
 * @typedef {{ spec: "Lease" | "TwoObjects", name: string, constants: Record<string, string | number>, isLarge?: boolean }} Run
 */

const lease = {
  Procs: "{a, b}",
  Slow: "{}",
  Short: 2,
  Long: 2,
  Deletions: '"nobody"',
  WaitWhenAbsent: "FALSE",
  MaxVersion: 4,
  Mistake: '"none"',
};
const mixed = { ...lease, Slow: "{b}", Long: 3 };
const deleted = { ...lease, Deletions: '"known"', WaitWhenAbsent: "TRUE" };

const two = {
  Procs: "{a, b}",
  Lease: 2,
  Deletions: '"nobody"',
  WaitWhenAbsent: "FALSE",
  MaxVersion: 3,
  Mistake: '"none"',
};

/** @type {readonly Run[]} */
export const scopes = [
  { spec: "Lease", name: "2 candidates, 2 writes", constants: { ...lease, MaxVersion: 3 } },
  { spec: "Lease", name: "2 candidates, 2 writes or deletions", constants: { ...deleted, MaxVersion: 3 } },
  { spec: "TwoObjects", name: "2 candidates, 1 write per object", constants: { ...two, MaxVersion: 2 } },
  { spec: "Lease", name: "2 candidates, 3 writes", constants: lease, isLarge: true },
  { spec: "Lease", name: "2 candidates, 3 writes, leases 2 and 3", constants: mixed, isLarge: true },
  { spec: "TwoObjects", name: "2 candidates, 2 writes per object", constants: two, isLarge: true },
];

/** @param {string} name @param {typeof lease} constants @returns {Run} */
const inLease = (name, constants) => ({
  spec: "Lease",
  name,
  constants: { ...constants, Mistake: `"${name}"` },
});
/** @param {string} name @param {typeof two} constants @returns {Run} */
const inTwo = (name, constants) => ({
  spec: "TwoObjects",
  name,
  constants: { ...constants, Mistake: `"${name}"` },
});

/** @type {readonly Run[]} */
export const mistakes = [
  inLease("count-from-answer", lease),
  inLease("wait-from-first-sight", lease),
  inLease("wait-own-lease", mixed),
  inLease("write-without-compare", lease),
  inLease("release-before-work-stops", lease),
  inLease("start-from-old-campaign", deleted),
  inTwo("hold-one", two),
  inTwo("wait-for-one", two),
  inTwo("mix-two-attempts", two),
];
