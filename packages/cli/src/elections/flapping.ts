/**
 * Whether leadership moves too often. Candidates may record Events on the lock ("pod-1 became leader"); without Events, the
 * number of transitions since the lock was created must do. Events are kept for about an hour and may be dropped under load,
 * so a small number of them proves nothing.
 */
import type { LockClient } from "./find.ts";
import { lockKinds } from "./lock-object.ts";
import type { ElectionState } from "./state.ts";

export interface KubeEvent {
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly involvedObject?: { readonly kind?: string };
}

export interface Flapping {
  /** How many times a candidate became leader within the window. */
  readonly takeovers: number;
  readonly withinMs: number;
  readonly from: "events" | "transitions";
}

const windowMs = 10 * 60_000;
/** A rollout of three replicas moves leadership up to three times. More within ten minutes is not a rollout. */
const mostTakeovers = 4;

export async function readEvents(client: LockClient, state: ElectionState): Promise<readonly KubeEvent[]> {
  const fieldSelector = `involvedObject.kind=${lockKinds[state.kind].apiKind},involvedObject.name=${state.name}`;
  const path = `/api/v1/namespaces/${state.namespace}/events`;
  const list = await client.request<{ items: KubeEvent[] }>({
    method: "GET",
    path,
    query: { fieldSelector },
  });
  return list.items;
}

export function flappingOf(
  state: ElectionState,
  events: readonly KubeEvent[],
  serverNowMs: number,
): Flapping | undefined {
  const times = events
    .filter(({ reason, message }) => reason === "LeaderElection" && / became leader$/.test(message ?? ""))
    .flatMap(timesOf)
    .filter((time) => serverNowMs - time <= windowMs);
  if (times.length > mostTakeovers) {
    return { takeovers: times.length, withinMs: serverNowMs - Math.min(...times), from: "events" };
  }
  const existsMs = serverNowMs - Date.parse(state.object.metadata.creationTimestamp ?? "");
  const { leaseTransitions } = state.record;
  if (events.length === 0 && existsMs <= windowMs && leaseTransitions > mostTakeovers) {
    return { takeovers: leaseTransitions, withinMs: existsMs, from: "transitions" };
  }
  return undefined;
}

/** A counted event has its first and its last time. The times between are assumed to be spread evenly. */
function timesOf({ count = 1, firstTimestamp, lastTimestamp, eventTime }: KubeEvent): number[] {
  const last = Date.parse(lastTimestamp ?? eventTime ?? "");
  const first = Date.parse(firstTimestamp ?? lastTimestamp ?? eventTime ?? "");
  if (Number.isNaN(last)) return [];
  if (count <= 1 || Number.isNaN(first)) return [last];
  const most = Math.min(count, 1_000);
  return Array.from({ length: most }, (_, index) => first + ((last - first) * index) / (most - 1));
}

/** The last changes of leadership, newest first. */
export function lastTakeovers(
  events: readonly KubeEvent[],
  most: number,
): { readonly message: string; readonly atMs: number }[] {
  return events
    .filter(({ reason }) => reason === "LeaderElection")
    .map((event) => ({ message: event.message ?? "", atMs: Math.max(...timesOf(event), 0) }))
    .filter(({ atMs }) => atMs > 0)
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, most);
}
