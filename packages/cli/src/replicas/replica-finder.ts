/**
 * Finds the replicas of elections through their pods: which take part, and where their status servers are. Asks seldom, and only
 * for namespaces in which there are elections. What the user may not read stays unknown.
 */
import { after, type Clock } from "@tenure/base";
import { electionNameOf, flagOf } from "../commands/doctor/flags.ts";
import { workloadsOf } from "../commands/doctor/participants.ts";
import { livePodsOf, type Pod } from "../commands/doctor/pods.ts";
import { readWorkloads, type Workloads } from "../commands/doctor/snapshot.ts";
import { containersOfPod } from "../commands/doctor/workload.ts";
import { titleOf } from "../display/descriptions.ts";
import type { LockClient } from "../elections/find.ts";
import type { ElectionState } from "../elections/state.ts";
import type { Observer } from "../observe/observer.ts";

const askEveryMs = 10_000;
/** Each costs a connection. */
const mostFollowed = 100;

interface Place {
  readonly client: LockClient;
  readonly platform: { readonly clock: Clock; readonly backgroundClock: Clock };
}

export class ReplicaFinder {
  readonly #place: Place;
  readonly #observer: Observer;
  readonly #ended: AbortSignal;
  readonly #elections = new Map<string, ElectionState>();
  readonly #followed = new Map<string, AbortController>();
  #cancel = () => {};
  #isAsking = false;

  constructor(place: Place, observer: Observer, ended: AbortSignal) {
    this.#place = place;
    this.#observer = observer;
    this.#ended = ended;
  }

  seen(state: ElectionState): void {
    const key = titleOf(state);
    const before = this.#elections.get(key);
    this.#elections.set(key, state);
    // A new leader may be a new pod.
    if (before?.record.holderIdentity !== state.record.holderIdentity) this.#askSoon(500);
  }

  #askSoon(ms: number): void {
    if (this.#isAsking || this.#ended.aborted) return;
    this.#cancel();
    this.#cancel = after(this.#place.platform.backgroundClock, ms, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    const namespaces = new Set([...this.#elections.values()].map(({ namespace }) => namespace));
    const present = new Set<string>();
    for (const namespace of namespaces) {
      if (this.#ended.aborted) return;
      const snapshot = await readWorkloads(this.#place.client, namespace).catch(() => undefined);
      if (!snapshot) continue;
      for (const state of this.#elections.values()) {
        if (state.namespace === namespace) this.#report(state, snapshot, present);
      }
    }
    for (const [key, stop] of this.#followed) {
      if (present.has(key)) continue;
      stop.abort();
      this.#followed.delete(key);
    }
    this.#isAsking = false;
    this.#askSoon(askEveryMs);
  }

  #report(state: ElectionState, snapshot: Workloads, present: Set<string>): void {
    const pods = podsOf(state, snapshot);
    if (pods.length === 0) return;
    const election = titleOf(state);
    this.#observer.candidates(
      election,
      pods.map(({ metadata, status }) => ({
        id: metadata.name,
        state: metadata.deletionTimestamp === undefined ? (status?.phase ?? "Unknown") : "Terminating",
      })),
    );
    for (const pod of pods) {
      const url = statusUrl(pod, state.name);
      if (url === undefined) continue;
      const key = `${election} ${url}`;
      present.add(key);
      if (this.#followed.has(key) || this.#followed.size >= mostFollowed) continue;
      const stop = new AbortController();
      this.#followed.set(key, stop);
      void this.#observer.replica({ url, election }, AbortSignal.any([stop.signal, this.#ended]));
    }
  }
}

/** The pods that take part in this election. */
export function podsOf({ name, record }: ElectionState, snapshot: Workloads): readonly Pod[] {
  const workloads = workloadsOf(name, record.holderIdentity, snapshot);
  return [...new Set(workloads.flatMap((workload) => livePodsOf(workload, snapshot.pods)))];
}

/** Where the status server of this pod is, by its flags; undefined if it has none that others can reach. */
export function statusUrl({ spec, status }: Pod, election: string): string | undefined {
  const containers = containersOfPod(spec);
  const named = containers.filter((container) => electionNameOf(container) === election);
  for (const container of named.length > 0 ? named : containers) {
    const [, host = "", port] = /^(.*):(\d+)$/.exec(flagOf(container, "status") ?? "") ?? [];
    if (port === undefined || !status?.podIP || !["", "0.0.0.0", "[::]"].includes(host)) continue;
    return `http://${status.podIP.includes(":") ? `[${status.podIP}]` : status.podIP}:${port}`;
  }
  return undefined;
}
