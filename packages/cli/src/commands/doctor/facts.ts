import type { ElectionState } from "../../elections/state.ts";
import type { Advice } from "./advice.ts";
import type { Snapshot } from "./snapshot.ts";

/** What the checks of a workload need to know. */
export interface Facts {
  /** The name of the election. Undefined for a workload whose election is not known. */
  readonly election: string | undefined;
  /** The election in reports: `prod/billing`. */
  readonly about: string | undefined;
  /** Undefined if no candidate has created the lock, or if the user may not read it. */
  readonly state: ElectionState | undefined;
  readonly snapshot: Snapshot;
  /** By the clock of the API server. */
  readonly nowMs: number;
  readonly advice: Advice;
}
