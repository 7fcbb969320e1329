/**
 * Whether leadership moves too often, from the Events that candidates leave on the lock ("pod-1 became leader") where they
 * announce it, and otherwise from its transitions since it exists. Events are kept for an hour or so, and may be dropped under
 * load: few of them prove nothing.
 */
import type { KubeClient } from "@tenure/kube";
import { lockKinds } from "./lock-object.ts";
import type { ElectionState } from "./state.ts";
import { ago, spell } from "./time-words.ts";

interface KubeEvent {
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly involvedObject?: { readonly kind?: string };
}

export interface Flapping {
  /** How often somebody became leader within the window. */
  readonly takeovers: number;
  readonly withinMs: number;
  readonly from: "events" | "transitions";
}

const windowMs = 10 * 60_000;
/** A rollout of three replicas moves leadership up to three times; more within ten minutes is no rollout. */
const mostTakeovers = 4;

export async function readEvents(client: KubeClient, state: ElectionState): Promise<readonly KubeEvent[]> {
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
  const moments = events
    .filter(({ reason, message }) => reason === "LeaderElection" && / became leader$/.test(message ?? ""))
    .flatMap(momentsOf)
    .filter((moment) => serverNowMs - moment <= windowMs);
  if (moments.length > mostTakeovers) {
    return { takeovers: moments.length, withinMs: serverNowMs - Math.min(...moments), from: "events" };
  }
  const existsMs = serverNowMs - Date.parse(state.object.metadata.creationTimestamp ?? "");
  const { leaseTransitions } = state.record;
  if (events.length === 0 && existsMs <= windowMs && leaseTransitions > mostTakeovers) {
    return { takeovers: leaseTransitions, withinMs: existsMs, from: "transitions" };
  }
  return undefined;
}

export function describeFlapping({ takeovers, withinMs }: Flapping): string {
  return `it changed hands ${takeovers} times in the last ${spell(withinMs)}`;
}

/** An event that was counted up tells its first and its last moment; those between are spread evenly. */
function momentsOf({ count = 1, firstTimestamp, lastTimestamp, eventTime }: KubeEvent): number[] {
  const last = Date.parse(lastTimestamp ?? eventTime ?? "");
  const first = Date.parse(firstTimestamp ?? lastTimestamp ?? eventTime ?? "");
  if (Number.isNaN(last)) return [];
  if (count <= 1 || Number.isNaN(first)) return [last];
  const many = Math.min(count, 1_000);
  return Array.from({ length: many }, (_, index) => first + ((last - first) * index) / (many - 1));
}

/** The last few changes of hands, newest first, for people. */
export function lastTakeovers(events: readonly KubeEvent[], serverNowMs: number, most: number): string[] {
  return events
    .filter(({ reason }) => reason === "LeaderElection")
    .map((event) => ({ message: event.message ?? "", atMs: Math.max(...momentsOf(event), 0) }))
    .filter(({ atMs }) => atMs > 0)
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, most)
    .map(({ message, atMs }) => `${ago(serverNowMs - atMs)}: ${message}`);
}
