/** The state of an election in words and as data. */
import type { Flapping } from "./flapping.ts";
import { lockKinds } from "./lock-object.ts";
import { harmless } from "./paint.ts";
import type { ServerTime } from "./server-clock.ts";
import type { ElectionState } from "./state.ts";
import { ago, spell } from "./time-words.ts";

export function titleOf({ namespace, name }: ElectionState): string {
  return `${namespace}/${name}`;
}

/** One sentence: who leads, or why nobody does. */
export function sentence(state: ElectionState): string {
  const holder = harmless(state.record.holderIdentity);
  const since = state.ageMs === undefined ? "" : ` ${ago(state.ageMs)}`;
  switch (state.standing) {
    case "led":
      return `${holder} leads`;
    case "expired":
      return `Nobody leads: ${holder} last renewed${since}, and its time ran out ${ago(-(state.expiresInMs ?? 0))}`;
    case "released":
      return state.orders.paused
        ? `Nobody leads: the election is paused`
        : `Nobody leads: the lock was released${since} and nobody took it`;
    case "never-held":
      return "Nobody leads: the lock was never held";
    case "unreadable":
      return `Nobody can tell who leads: ${state.record.problem}`;
  }
}

const rounded = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms) / 1_000);

/** For -o json and yaml. Keys stay as they are between versions; new ones may be added. */
export function dataOf(state: ElectionState, more: { flapping?: Flapping; time?: ServerTime } = {}): object {
  const { record, orders, object } = state;
  const { flapping, time } = more;
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
    heldForSeconds: rounded(state.heldForMs),
    ageSeconds: rounded(state.ageMs),
    expiresInSeconds: rounded(state.expiresInMs),
    holderClockOffSeconds: rounded(state.holderClockOffMs),
    orders: { paused: orders.paused, stepDown: orders.stepDown, transferTo: orders.transferTo ?? null },
    ...(record.problem !== undefined && { problem: record.problem }),
    ...(isApiServerIdentity(state) && { role: "apiserver-identity" }),
    ...(flapping && {
      flapping: { takeovers: flapping.takeovers, withinSeconds: rounded(flapping.withinMs) },
    }),
    ...(time && {
      serverTime: new Date(time.nowMs).toISOString(),
      localClockOffSeconds: rounded(-time.offsetMs),
    }),
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
  };
}

/** kube-apiserver notes its own presence in such a Lease; nobody contends for it. */
export function isApiServerIdentity({ kind, object }: ElectionState): boolean {
  return kind === "lease" && object.metadata.labels?.["apiserver.kubernetes.io/identity"] !== undefined;
}

/** How fresh, for a line or a cell. */
export function freshness({ ageMs, expiresInMs, standing }: ElectionState): string {
  if (ageMs === undefined) return "unknown";
  if (expiresInMs === undefined) return ago(ageMs);
  const end = standing === "expired" ? `expired ${ago(-expiresInMs)}` : `expires in ${spell(expiresInMs)}`;
  return `${ago(ageMs)}, ${end}`;
}
