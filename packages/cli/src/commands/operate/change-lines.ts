/** A change of an election as one line: text for people, JSON for programs. */
import type { Clock } from "@tenure/base";
import { describeChange, titleOf } from "../../display/descriptions.ts";
import { withoutControls } from "../../display/paint.ts";
import { seconds } from "../../display/state-data.ts";
import type { Change } from "../../elections/history.ts";
import type { Watched } from "../../elections/watch-changes.ts";

/** When the change happened, by the wall clock of this machine. */
export function wallTimeOf({ atMs }: Change, clock: Clock): number {
  const now = clock.now();
  return now.wallMs - (now.monoMs - atMs);
}

export function lineText(watched: Watched, change: Change, clock: Clock): string {
  const time = new Date(wallTimeOf(change, clock)).toISOString();
  return `${time}  ${titleOf(watched)}  ${withoutControls(describeChange(change))}`;
}

export function lineData({ namespace, name, history }: Watched, change: Change, clock: Clock): object {
  return {
    time: new Date(wallTimeOf(change, clock)).toISOString(),
    namespace,
    name,
    change: change.kind,
    leader: change.kind === "leads" ? change.leader : (history.leader ?? null),
    ...(change.kind === "transfer" || change.kind === "transfer-accepted"
      ? { to: change.other }
      : { previous: change.other }),
    transitions: change.transitions ?? history.last?.record.leaseTransitions,
    heldSeconds: seconds(change.heldMs),
    gapSeconds: seconds(change.gapMs),
  };
}
