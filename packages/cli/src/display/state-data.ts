/** The state of an election as data, for -o json and yaml. */

import type { Candidate } from "../elections/candidates.ts";
import type { Flapping } from "../elections/flapping.ts";
import { lockKinds } from "../elections/lock-object.ts";
import { isApiServerIdentity } from "../elections/other-leases.ts";
import type { ServerTime } from "../elections/server-clock.ts";
import type { ElectionState } from "../elections/state.ts";

/** Seconds with three decimals. */
export function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms) / 1_000;
}

interface More {
  readonly flapping?: Flapping;
  readonly time?: ServerTime;
  readonly candidates?: readonly Candidate[];
}

/** Keys stay the same between versions. New ones may be added. */
export function dataOf(state: ElectionState, more: More = {}): object {
  const { record, orders, object } = state;
  const { flapping, time, candidates } = more;
  return {
    namespace: state.namespace,
    name: state.name,
    kind: lockKinds[state.kind].apiKind,
    standing: state.standing,
    leader: state.leader ?? null,
    holder: record.holderIdentity,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseDurationSeconds: record.leaseDurationSeconds,
    transitions: record.leaseTransitions,
    heldForSeconds: seconds(state.heldForMs),
    ageSeconds: seconds(state.ageMs),
    expiresInSeconds: seconds(state.expiresInMs),
    holderClockOffSeconds: seconds(state.holderClockOffMs),
    orders: {
      paused: orders.paused,
      ...(orders.pausedBy !== undefined && { pausedBy: orders.pausedBy }),
      ...(orders.pauseReason !== undefined && { pauseReason: orders.pauseReason }),
      stepDown: orders.stepDown,
      transferTo: orders.transferTo ?? null,
      transferAccepted: orders.transferAccepted ?? false,
    },
    ...(record.problem !== undefined && { problem: record.problem }),
    ...(isApiServerIdentity(state) && { role: "apiserver-identity" }),
    ...(flapping && {
      flapping: { takeovers: flapping.takeovers, withinSeconds: seconds(flapping.withinMs) },
    }),
    ...(time && {
      serverTime: new Date(time.nowMs).toISOString(),
      localClockOffSeconds: seconds(-time.offsetMs),
    }),
    ...(candidates && {
      candidates: candidates.map(({ identity, isPresent, standing, reason, seenMs }) => ({
        identity,
        present: isPresent,
        standing,
        reason,
        seenSecondsAgo: seconds(seenMs),
      })),
    }),
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
  };
}
