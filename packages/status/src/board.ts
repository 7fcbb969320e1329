/**
 * What there is to say about this replica at this moment, and word of it when it changes.
 * A leader whose time has run out, or that is ending its term, is not named: whoever asks may be about to give it work.
 */
import type { Clock } from "@tenure/base";
import type { ChildState, StatusSource } from "./source.ts";

export interface Status {
  /** The leader, or "": as the classic leader-elector sidecar answers. */
  readonly name: string;
  readonly leader: string | null;
  readonly identity: string;
  readonly isLeader: boolean;
  /** The fencing token, as text since it may not fit a number; null for a follower. */
  readonly token: string | null;
  /** Since when this replica has known that leader. */
  readonly since: string | null;
  readonly phase: string;
  /** How long this leader may go on without another renewal; null for a follower, which cannot know. */
  readonly leaseSecondsLeft: number | null;
  readonly healthy: boolean;
  readonly message: string;
  readonly child?: ChildState;
}

export type StatusEvent = "leader-changed" | "phase" | "renewed";
export type StatusListener = (event: StatusEvent, status: Status) => void;

/** A leader renews every few seconds: who listens wants to know that it lives, not each time. */
const renewedEveryMs = 5_000;
/** But so often within the time that is left: who trusts `leaseSecondsLeft` must not see it run out. */
const timesPerLease = 4;

export class StatusBoard {
  readonly #source: StatusSource;
  readonly #clock: Clock;
  readonly #listeners = new Set<StatusListener>();
  readonly #endings: (() => void)[] = [];
  #leader: string | null = null;
  #sinceMs: number | undefined;
  #phase: string;
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  constructor(source: StatusSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
    this.#phase = this.#phaseNow();
    const { election } = source;
    const look = () => this.#look();
    this.#endings.push(
      election.on("leader-changed", look),
      election.on("term-started", ({ term }) => {
        term.signal.addEventListener("abort", look, { once: true });
        look();
      }),
      election.on("term-ended", look),
      election.on("overrun", look),
      election.on("renewed", () => this.#renewed()),
    );
    if (source.onChange) this.#endings.push(source.onChange(look));
    look();
  }

  /** The result ends it. */
  listen(listener: StatusListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  status(): Status {
    // A time that ran out is announced by nobody if the process stood still meanwhile.
    this.#look();
    const { election, child } = this.#source;
    const { healthy, message } = election.health();
    const isLeader = this.isLeader();
    return {
      name: this.#leader ?? "",
      leader: this.#leader,
      identity: election.identity,
      isLeader,
      token: isLeader && election.term ? String(election.term.token) : null,
      since: this.#sinceMs === undefined ? null : new Date(this.#sinceMs).toISOString(),
      phase: this.#phase,
      leaseSecondsLeft: election.term ? Math.round(election.term.remainingMs()) / 1_000 : null,
      healthy,
      message,
      ...(child && { child: child() }),
    };
  }

  isLeader(): boolean {
    const { term } = this.#source.election;
    return term !== undefined && !term.signal.aborted && term.isValid();
  }

  close(): void {
    for (const end of this.#endings.splice(0)) end();
    this.#listeners.clear();
  }

  #look(): void {
    const { election } = this.#source;
    const leader =
      election.leader === election.identity && !this.isLeader() ? null : (election.leader ?? null);
    const phase = this.#phaseNow();
    const isNewLeader = leader !== this.#leader;
    const isNewPhase = phase !== this.#phase;
    // Both are set before either is told, for every word carries the whole status.
    if (isNewLeader) this.#sinceMs = leader === null ? undefined : this.#clock.now().wallMs;
    this.#leader = leader;
    this.#phase = phase;
    if (isNewLeader) this.#tell("leader-changed");
    if (isNewPhase) this.#tell("phase");
  }

  #renewed(): void {
    this.#look();
    const nowMs = this.#clock.now().monoMs;
    const remainingMs = this.#source.election.term?.remainingMs() ?? 0;
    if (nowMs - this.#renewedAtMs < Math.min(renewedEveryMs, remainingMs / timesPerLease)) return;
    this.#renewedAtMs = nowMs;
    this.#tell("renewed");
  }

  #phaseNow(): string {
    if (this.#source.phase) return this.#source.phase();
    if (this.isLeader()) return "leader";
    return this.#source.election.term ? "pre-follower" : "follower";
  }

  #tell(event: StatusEvent): void {
    if (this.#listeners.size === 0) return;
    const status = this.status();
    for (const listener of [...this.#listeners]) listener(event, status);
  }
}
