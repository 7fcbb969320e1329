/** The scopes that are searched. Each is exhausted: every history within its limits is covered. */
import { type FaultKind, faultKinds, noFaults, type Scope } from "./world.ts";

export interface NamedScope extends Scope {
  readonly name: string;
}

function scope(
  name: string,
  candidates: number,
  delays: number,
  faults: Partial<Record<FaultKind, number>>,
): NamedScope {
  return { name, candidates, delays, faults: { ...noFaults, ...faults } };
}

/** One fault of each kind, with one delay. */
const single = faultKinds.map((kind) => scope(`2 candidates, 1 delay, 1 ${kind}`, 2, 1, { [kind]: 1 }));

/** For every commit: under a minute. */
export const shortScopes: readonly NamedScope[] = [scope("2 candidates, 2 delays", 2, 2, {}), ...single];

/** By hand. */
export const longScopes: readonly NamedScope[] = [
  scope("2 candidates, 4 delays", 2, 4, {}),
  scope("3 candidates, 1 delay", 3, 1, {}),
  ...faultKinds.map((kind) => scope(`2 candidates, 2 delays, 1 ${kind}`, 2, 2, { [kind]: 1 })),
  scope("2 candidates, 1 delay, 1 lose, 1 crash", 2, 1, { lose: 1, crash: 1 }),
  scope("2 candidates, 1 delay, 1 lose, 1 delete", 2, 1, { lose: 1, delete: 1 }),
];

/** Planted bugs of core that these worlds cannot show, and why. The simulator finds them. */
export const beyondTheSearch: Readonly<Record<string, string>> = {
  "rewin-inside-term":
    "needs a writer that breaks the rules: no candidate takes the lock of a leader whose term is valid",
  "vanished-holder-last-seen-lease": "needs candidates with different leases",
  "suspension-unseen": "needs a machine that is suspended while the others go on",
  "metadata-is-a-renewal":
    "costs availability, not exclusion; the search has no end at which somebody must lead",
  "transfer-ignored": "the only order is a pause",
  "rollback-unseen": "the store is never restored",
  "rollback-is-release": "the store is never restored",
  "object-not-sent-back": "an object has no other fields",
};
