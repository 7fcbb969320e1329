/**
 * Knows the status of this replica, and calls back when it changes.
 * A leader whose term has expired or is ending is not named, because a client may be about to send it work.
 */
import { asError, type Clock, Emitter, onAbort, warn } from "@tenure/base";
import { healthOf } from "./health.ts";
import type { ChildSummary, StatusSource, SupervisorState } from "./source.ts";

export interface Status {
  /** The leader, or "" if there is none, as the classic leader-elector sidecar responds. */
  readonly name: string;
  readonly leader: string | null;
  readonly identity: string;
  readonly isLeader: boolean;
  /** The fencing token, as text because it may not fit into a number; null for a follower. */
  readonly token: string | null;
  /** When this replica first saw this leader. */
  readonly since: string | null;
  readonly phase: string;
  /** Time until the term expires if it is not renewed; null for a follower, which cannot know. */
  readonly leaseSecondsLeft: number | null;
  readonly healthy: boolean;
  readonly message: string;
  readonly child?: ChildSummary;
  /** With a supervisor: the process that kills the child if this process cannot. */
  readonly watchdog?: SupervisorState["watchdog"];
  /** With a supervisor: this replica leads although its child fails. */
  readonly degraded?: boolean;
}

export type StatusEvent = "leader-changed" | "phase" | "renewed";

interface StatusChange {
  readonly event: StatusEvent;
  readonly status: Status;
}

/** A leader renews every few seconds. Clients need to see that it is alive, not every renewal. */
const renewedEveryMs = 5_000;
/** `renewed` is also sent this often per remaining lease, so that `leaseSecondsLeft` does not reach 0 at a client. */
const timesPerLease = 4;

export class StatusTracker {
  readonly #source: StatusSource;
  readonly #clock: Clock;
  readonly #emitter = new Emitter<{ change: StatusChange }>((error) => warn(asError(error)));
  readonly #cleanups: (() => void)[] = [];
  #leader: string | null = null;
  #sinceMs: number | undefined;
  #phase: string;
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  constructor(source: StatusSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
    this.#phase = this.#currentPhase();
    const { election } = source;
    const update = () => this.#update();
    this.#cleanups.push(
      election.on("leader-changed", update),
      election.on("term-started", ({ term }) => {
        onAbort(term.signal, update);
        update();
      }),
      election.on("term-ended", update),
      election.on("overrun", update),
      election.on("renewed", () => this.#renewed()),
    );
    if (source.onChange) this.#cleanups.push(source.onChange(update));
    update();
  }

  /** The returned function removes the listener. */
  onChange(listener: (change: StatusChange) => void): () => void {
    return this.#emitter.on("change", listener);
  }

  status(): Status {
    // If the process was frozen, the term may have expired without any event.
    this.#update();
    const { election, child, supervisor } = this.#source;
    const { healthy, message } = healthOf(this.#source);
    const { watchdog, degraded } = supervisor?.status() ?? {};
    const isLeader = this.isLeader();
    return {
      name: this.#leader ?? "",
      leader: this.#leader,
      identity: election.identity,
      isLeader,
      token: isLeader && election.term ? String(BigInt(election.term.token)) : null,
      since: this.#sinceMs === undefined ? null : new Date(this.#sinceMs).toISOString(),
      phase: this.#phase,
      leaseSecondsLeft: election.term ? Math.round(election.term.remainingMs()) / 1_000 : null,
      healthy,
      message,
      ...(child && { child: child() }),
      ...(watchdog && { watchdog }),
      ...(degraded !== undefined && { degraded }),
    };
  }

  /** The leader as far as this replica knows; null if no lease is in force. */
  leader(): string | null {
    this.#update();
    return this.#leader;
  }

  isLeader(): boolean {
    const { term } = this.#source.election;
    return term !== undefined && !term.signal.aborted && term.isValid();
  }

  close(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }

  #update(): void {
    const { election } = this.#source;
    const leader =
      election.leader === election.identity && !this.isLeader() ? null : (election.leader ?? null);
    const phase = this.#currentPhase();
    const isNewLeader = leader !== this.#leader;
    const isNewPhase = phase !== this.#phase;
    // Both are set before either event is emitted, because every event carries the whole status.
    if (isNewLeader) this.#sinceMs = leader === null ? undefined : this.#clock.now().wallMs;
    this.#leader = leader;
    this.#phase = phase;
    if (isNewLeader) this.#emit("leader-changed");
    if (isNewPhase) this.#emit("phase");
  }

  #renewed(): void {
    this.#update();
    const nowMs = this.#clock.now().monoMs;
    const remainingMs = this.#source.election.term?.remainingMs() ?? 0;
    if (nowMs - this.#renewedAtMs < Math.min(renewedEveryMs, remainingMs / timesPerLease)) return;
    this.#renewedAtMs = nowMs;
    this.#emit("renewed");
  }

  #currentPhase(): string {
    if (this.#source.phase) return this.#source.phase();
    if (this.isLeader()) return "leader";
    return this.#source.election.term ? "pre-follower" : "follower";
  }

  #emit(event: StatusEvent): void {
    if (this.#emitter.has("change")) this.#emitter.emit("change", { event, status: this.status() });
  }
}
