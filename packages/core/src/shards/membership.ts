/** What the member lease, which an election machine keeps, means for the set of shards. */
import type { Effect, State } from "../types.ts";
import type { SetConfig, SetEvent } from "./types.ts";

/** The event for the set that follows from an effect of the member lease; undefined if none does. */
export function setEventOf(
  config: SetConfig,
  lease: string,
  effect: Pick<Effect, "type">,
  state: State,
): SetEvent | undefined {
  switch (effect.type) {
    case "term-started": {
      if (state.lock.kind !== "present" || !("term" in state.phase)) return undefined;
      const { uid } = state.lock.view;
      const acquired = state.phase.term.acquireTime ?? "";
      const leaseSeconds = config.leaseDurationMs / 1_000;
      return { type: "joined", me: { identity: config.identity, lease, uid, acquired, leaseSeconds } };
    }
    case "term-ending":
      return { type: "lease-ending" };
    case "term-lost":
      return { type: "lease-lost", reason: (effect as Effect & { type: "term-lost" }).reason };
    default:
      return undefined;
  }
}
