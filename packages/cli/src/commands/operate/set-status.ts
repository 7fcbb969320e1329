/** `tenure status NAME` for shards and semaphores: their members, and who works on what. */
import type { OperateFlags, Session } from "../../cluster/session.ts";
import { ago } from "../../display/durations.ts";
import { serialize } from "../../display/output.ts";
import { pad, withoutControls } from "../../display/paint.ts";
import { seconds } from "../../display/state-data.ts";
import { formatIndexes, type SetMemberState, type SetState } from "../../elections/sets.ts";

/** @returns the exit code: 0 if everything has an owner that is alive, else 1 */
export async function setStatus(
  sets: readonly [SetState, ...SetState[]],
  session: Session<OperateFlags>,
): Promise<number> {
  const { output } = session.flags;
  if (output === "json" || output === "yaml") {
    const [first] = sets;
    session.print(await serialize(output, sets.length === 1 ? dataOf(first) : { items: sets.map(dataOf) }));
  } else session.print(sets.map((set) => describeSet(set, session)).join(""));
  // Fewer members than permits is no fault: a member holds one at most.
  const isComplete = (set: SetState) =>
    set.problem === undefined && (set.kind === "permits" || set.unowned.length === 0);
  return sets.every(isComplete) ? 0 : 1;
}

function describeSet(set: SetState, { paint }: Session<OperateFlags>): string {
  const noun = set.kind === "shards" ? "shards" : "permits";
  const title = `${paint.bold(`${set.namespace}/${set.name}`)} ${paint.dim(`(${set.count} ${noun})`)}\n`;
  if (set.problem !== undefined) return `${title}  ${paint.bad(set.problem)}\n`;
  const width = Math.max(0, ...set.members.map(({ identity }) => withoutControls(identity).length), 7);
  const rows = set.members.map(
    (member) => `  ${pad(withoutControls(member.identity), width)}  ${describeMember(member, paint)}\n`,
  );
  const unowned =
    set.unowned.length === 0
      ? ""
      : `  ${pad("nobody", width)}  ${paint.warn(`${set.unowned.length}: ${formatIndexes(set.unowned)}`)}\n`;
  return title + rows.join("") + unowned;
}

function describeMember(member: SetMemberState, paint: Session<OperateFlags>["paint"]): string {
  const { owns, isAlive, isLeaving, renewedMs } = member;
  const work = owns.length === 0 ? "nothing" : `${owns.length}: ${formatIndexes(owns)}`;
  const seen = renewedMs === undefined ? "its lease is gone" : `renewed ${ago(renewedMs)}`;
  if (!isAlive) return `${work} ${paint.bad(`(dead, ${seen})`)}`;
  return `${work} ${paint.dim(`(${isLeaving ? "leaving, " : ""}${seen})`)}`;
}

function dataOf(set: SetState): object {
  return {
    namespace: set.namespace,
    name: set.name,
    kind: set.kind === "shards" ? "Shards" : "Semaphore",
    count: set.count,
    members: set.members.map(({ identity, isAlive, isLeaving, owns, renewedMs }) => ({
      identity,
      alive: isAlive,
      leaving: isLeaving,
      owns,
      renewedSecondsAgo: seconds(renewedMs),
    })),
    unowned: set.unowned,
    ...(set.problem !== undefined && { problem: set.problem }),
  };
}
