/**
 * Watches locks and replicas, and passes on what it sees as observations, all by one clock that never jumps. `tenure ui` and
 * `tenure watch --record` use it.
 */
import type { Clock } from "@tenure/base";
import type { Observation } from "@tenure/ui";
import { titleOf } from "../display/descriptions.ts";
import type { ElectionState } from "../elections/state.ts";
import { followReplica, type ReplicaStatus } from "../replicas/follow-replica.ts";
import type { ReplicaAddress } from "../replicas/replicas-option.ts";
import { LockObservations } from "./observe-locks.ts";

export class Observer {
  readonly #clock: Clock;
  readonly #sink: (seen: Observation) => void;
  readonly #locks = new LockObservations();
  /** The wall clock when this began, minus the monotonic clock. */
  readonly #offsetMs: number;
  readonly #candidates = new Map<string, string>();
  #isUp = true;

  constructor(clock: Clock, sink: (seen: Observation) => void) {
    this.#clock = clock;
    this.#sink = sink;
    const { wallMs, monoMs } = clock.now();
    this.#offsetMs = wallMs - monoMs;
  }

  /** Milliseconds since 1970 by a clock that never jumps. */
  nowMs(): number {
    return this.#clock.now().monoMs + this.#offsetMs;
  }

  state(state: ElectionState): void {
    for (const seen of this.#locks.of(state, this.nowMs())) this.#sink(seen);
  }

  deleted(namespace: string, name: string): void {
    this.#sink(this.#locks.deleted(namespace, name, this.nowMs()));
  }

  /** @param trouble why the watch failed; undefined if it works */
  watch(trouble: string | undefined): void {
    const up = trouble === undefined;
    if (up && this.#isUp) return;
    this.#isUp = up;
    this.#sink({ kind: "watch", atMs: this.nowMs(), up, ...(trouble !== undefined && { message: trouble }) });
  }

  /** The replicas that take part by what their pods say. */
  candidates(election: string, candidates: readonly { readonly id: string; readonly state: string }[]): void {
    const text = JSON.stringify(candidates);
    if (this.#candidates.get(election) === text) return;
    this.#candidates.set(election, text);
    this.#sink({ kind: "candidates", atMs: this.nowMs(), election, candidates });
  }

  /** Follows a replica until the signal aborts. */
  async replica({ url, election = "" }: ReplicaAddress, signal: AbortSignal): Promise<void> {
    let id: string | undefined;
    await followReplica(url, this.#clock, signal, {
      onStatus: (status) => {
        const seen = observationOf(status, election, this.nowMs());
        if (!seen) return;
        ({ id } = seen);
        this.#sink(seen);
      },
      onLost: () => {
        if (id !== undefined) this.#sink({ kind: "lost", atMs: this.nowMs(), election, id });
        id = undefined;
      },
    });
  }
}

/** The election that an address belongs to if its flag does not say so. */
export function addressFor(
  address: ReplicaAddress,
  namespace: string,
  name: string | undefined,
): ReplicaAddress {
  return { ...address, election: address.election ?? titleOf({ namespace, name: name ?? "" }) };
}

const workingPhases = ["pre-leader", "leader", "pre-follower", "terminating"];

/** Undefined if the status is not that of a replica of tenure. */
export function observationOf(
  status: ReplicaStatus,
  election: string,
  atMs: number,
): Extract<Observation, { kind: "replica" }> | undefined {
  const { identity: id, phase, token, leaseSecondsLeft, healthy, message, child } = status;
  if (typeof id !== "string" || id === "" || typeof phase !== "string") return undefined;
  // A child that runs before its replica leads is a warm standby: it does no work yet.
  const isChildStopped = child
    ? child.state === "stopped"
    : phase === "pre-leader" || phase === "terminating";
  return {
    kind: "replica",
    atMs,
    election,
    id,
    phase,
    works: workingPhases.includes(phase) && !isChildStopped,
    healthy: healthy !== false,
    message: typeof message === "string" ? message : "",
    ...(typeof token === "string" && { token }),
    ...(typeof leaseSecondsLeft === "number" && { deadlineInMs: leaseSecondsLeft * 1_000 }),
  };
}
