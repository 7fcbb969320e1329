/** A process that runs what ships: an Election with a real lock and the real client, over a simulated network. */
import { first } from "@tenure/base";
import type { LeaderRecord } from "@tenure/core";
import {
  Election,
  type ElectionMetrics,
  type ElectionOptions,
  type Lock,
  type Logger,
  type Term,
} from "@tenure/election";
import { instrument } from "@tenure/election/opentelemetry";
import { ElectionThread } from "./election-thread.ts";
import {
  type CandidateProcess,
  cooldownMs,
  killTakesMs,
  type ProcessParts,
  TenureCandidate,
} from "./process.ts";
import type { Random } from "./random.ts";
import { Witness } from "./witness.ts";

export interface ElectionParts extends ProcessParts {
  readonly newLock: () => Lock;
  /** Whether this kind of lock can be used in a worker thread. */
  readonly canUseThread: boolean;
  /** The lock objects that the process uses, by their place in the API: one, or two during a migration. */
  readonly objects: readonly number[];
  readonly asksPlugin: boolean;
  readonly isShown: boolean;
  readonly isCoordinated: boolean;
  /** For ways to use the library that make no difference to a history. */
  readonly ways: Random;
  /** The process has ended by itself. */
  readonly onExit: () => void;
}

/** The kubelet restarts a container whose liveness probe fails this often in a row. */
const probe = { periodMs: 10_000, failures: 3 };

export class ElectionProcess extends TenureCandidate implements CandidateProcess {
  readonly leaseMs: number;
  override readonly objects: readonly number[];
  readonly mayHesitate: boolean;
  readonly asksPlugin: boolean;
  readonly #election: Election;
  readonly witness = new Witness();
  readonly #stop = new AbortController();
  readonly #once: boolean;
  /** It takes its terms from a loop instead of a callback. */
  readonly #loops: boolean;
  readonly #isProbed: boolean;
  /** It has a timer whose jobs run only where the leader is. */
  readonly #startsTasks: boolean;
  readonly #onExit: () => void;
  /** As a metrics library counts them. */
  readonly #counts = new Map<string, number>();
  #thread: ElectionThread | undefined;
  #failedProbes = 0;
  #term: Term | undefined;
  /** How many parts of the work run: the work of `run`, and tasks. */
  #parts = 0;
  #endWork = (_error?: Error): void => {};
  /** Aborts when the work is killed, because it still runs at the hard deadline. */
  #killed = new AbortController();

  constructor(options: Omit<ElectionOptions, "lock">, parts: ElectionParts) {
    super(parts);
    const { random, clock } = parts.machine;
    this.leaseMs = Number.parseInt(options.leaseDuration ?? "", 10) * 1_000;
    this.objects = parts.objects;
    const drawnPriority = random.chance(0.1) ? random.integer(0, 9) : undefined;
    const drawnNoFailover = random.chance(0.05);
    const { isShown, isCoordinated } = parts;
    // Where the API server chooses, they have no effect.
    const priority = isCoordinated ? undefined : drawnPriority;
    const noFailover = drawnNoFailover && !isCoordinated;
    this.mayHesitate = priority !== undefined || noFailover || isCoordinated;
    this.asksPlugin = parts.asksPlugin;
    this.#once = random.chance(0.1);
    this.#loops = parts.ways.chance(0.3) && !this.#once;
    this.#isProbed = random.chance(0.2);
    this.#startsTasks = random.chance(0.4);
    this.#onExit = parts.onExit;
    const kubeLock = parts.newLock();
    const lock = this.witness.of(kubeLock, {
      candidates: isShown ? kubeLock.candidates : undefined,
      coordination: isCoordinated ? kubeLock.coordination : undefined,
    });
    const worker = parts.canUseThread && random.chance(0.2);
    const { machine, scheduler } = parts;
    this.#election = new Election({
      ...options,
      // The spec tells a real thread how to construct the lock.
      lock: worker ? { ...lock, spec: { kind: "lease", options: {} } } : lock,
      worker,
      startThread: (setup) => {
        const endProcess = () => this.#crashAndRestart();
        this.#thread = new ElectionThread(setup, { machine, scheduler, lock, endProcess });
        return this.#thread;
      },
      clock,
      random: random.next,
      ...(priority !== undefined && { priority }),
      noFailover,
      ...(isCoordinated && { coordinated: { version: "1.0.0", whenUnavailable: "elect" } }),
      onOverrun: "report",
      ...(random.chance(0.8) && { cooldown: `${cooldownMs}ms` }),
      // Shorter than the longest time that simulated work takes to stop, or without a limit.
      ...(random.chance(0.3) && { stopTimeout: random.pick(["10s", false] as const) }),
      announce: random.chance(0.2),
      metrics: this.#metrics(),
      ...(parts.ways.chance(0.3) && { logger: this.#logger() }),
    });
    if (parts.ways.chance(0.3)) instrument(this.#election, { name: "sim" });
    this.#election.on("overrun", () =>
      this.after(random.between(0, killTakesMs), () => this.#killed.abort()),
    );
    this.#election.on("term-ended", () => this.coolDown());
    this.#election.on("renewed", () => this.#count("renewed"));
    this.#election.on("leader-changed", () => this.#count("leaders"));
    this.#election.on("error", () => this.#count("errors"));
  }

  get isLeading(): boolean {
    return this.#term !== undefined && this.machine.isRunning;
  }

  get longestLeaseMs(): number {
    return Math.max(this.leaseMs, this.witness.longestLeaseMs);
  }

  get highestRevision(): bigint {
    return this.witness.highestRevision;
  }

  knows(uid: string): boolean {
    return this.witness.knows(uid);
  }

  knewWhenSending(record: LeaderRecord, uid: string): boolean {
    return this.witness.knewWhenSending(record, uid);
  }

  start(): void {
    this.checker.started(this);
    // The kubelet may ask before the election runs.
    if (this.#isProbed) this.#probe();
    const exit = () => {
      this.exit();
      if (!this.isStopping) this.#onExit();
    };
    this.#run().then(exit, exit);
    if (this.#isProbed) this.#probeLater();
    if (this.#startsTasks) this.#startTaskLater();
  }

  shutdown(): void {
    this.machine.defer(() => {
      this.isStopping = true;
      this.checker.unready(this.id);
      this.#stop.abort();
    });
  }

  stepDown(): void {
    const options = this.machine.random.chance(0.5) ? { cooldown: `${cooldownMs}ms` } : {};
    this.machine.defer(() => this.#election.stepDown(options));
  }

  endWork(): void {
    const error = this.machine.random.chance(0.5) ? new Error("the work failed") : undefined;
    this.machine.defer(() => this.#endWork(error));
  }

  killThread(): void {
    this.machine.defer(() => this.#thread?.die());
  }

  protected mayWork(): boolean {
    return this.#term?.isValid() ?? false;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    if (!this.#loops) {
      await this.#election.run((term) => this.#work(term), { signal, once: this.#once });
      return;
    }
    for await (const term of this.#election.terms({ signal })) await this.#work(term);
  }

  async #work(term: Term): Promise<void> {
    this.checker.termStarted(this, BigInt(term.token));
    await this.#part(term, () => this.#workUntilStopped(term));
  }

  /** A part of the work. The checker sees all parts as one. */
  async #part(term: Term, work: () => Promise<void>): Promise<void> {
    this.#term = term;
    this.#parts += 1;
    if (this.#parts === 1) {
      this.#killed = new AbortController();
      this.checker.workStarted(this);
    }
    try {
      await work();
    } finally {
      this.#parts -= 1;
      if (this.#parts === 0) {
        this.#term = undefined;
        this.checker.workStopped(this);
      }
    }
  }

  async #workUntilStopped(term: Term): Promise<void> {
    let failure: Error | undefined;
    const ended = new Promise<void>((resolve) => {
      this.#endWork = (error) => {
        failure = error;
        resolve();
      };
    });
    await this.#untilStopped(term, ended);
    if (failure) throw failure;
  }

  /** Runs until the work ends, is killed, or has stopped some time after it was told to. */
  async #untilStopped(term: Term, ended: Promise<void> | number): Promise<void> {
    const { random, clock } = this.machine;
    const killed = this.#killed.signal;
    // The work may be told to stop, and then that the term is lost, and then be killed.
    if ((await first(clock, { ended, killed, ending: term.signal })) !== "ending") return;
    const isLost = term.lost.aborted;
    const lostMs = random.pick([0, random.between(0, 40_000), random.next() * term.remainingMs()]);
    const stopped = isLost ? lostMs : random.between(0, 25_000);
    const lost = isLost ? undefined : term.lost;
    if ((await first(clock, { ended, killed, lost, stopped })) === "lost")
      await first(clock, { ended, killed, stopped: lostMs });
  }

  #startTaskLater(): void {
    this.after(this.machine.random.between(100, 10_000), () => {
      this.#startTask();
      this.#startTaskLater();
    });
  }

  /** A job of a timer. It may run for longer than a handover takes, and ignore its signal. */
  #startTask(): void {
    const { random, clock } = this.machine;
    const takesMs = random.pick([0, random.between(0, 2_000), random.between(0, 60_000)]);
    const ignoresSignal = random.chance(0.2);
    const task = (term: Term) =>
      this.#part(term, async () => {
        if (ignoresSignal) await first(clock, { ended: takesMs, killed: this.#killed.signal });
        else await this.#untilStopped(term, takesMs);
        if (random.chance(0.1)) throw new Error("the job failed");
      });
    const { term } = this.#election;
    const running = term && random.chance(0.3) ? term.run(task) : this.#election.runIfLeader(task);
    running.then(
      ({ ran, completed }) => this.#count(`task ran ${ran}, completed ${completed}`),
      () => this.#count("task failed"),
    );
  }

  /** A liveness probe of the kubelet. Its answer also names the leader, and the token of the term. */
  #probe(): void {
    const { leader, term } = this.#election;
    this.#count(`${leader ?? "nobody"} leads, token ${term?.token ?? "none"}`);
    this.#failedProbes = this.#election.health().healthy ? 0 : this.#failedProbes + 1;
  }

  #probeLater(): void {
    this.after(probe.periodMs, () => {
      this.#probe();
      if (this.#failedProbes < probe.failures || this.isStopping) {
        this.#probeLater();
        return;
      }
      this.#crashAndRestart();
    });
  }

  #crashAndRestart(): void {
    this.crash();
    this.#onExit();
  }

  #metrics(): ElectionMetrics {
    return {
      leading: (isLeading) => this.#count(`leading ${isLeading}`),
      termStarted: () => this.#count("terms"),
      termEnded: (reason) => this.#count(`ended by ${reason}`),
      request: (during) => this.#count(during),
      requestFailed: (during, kind) => this.#count(`${during} ${kind}`),
    };
  }

  #logger(): Logger {
    const write = (message: string) => this.#count(message);
    return { info: write, warn: write, error: write };
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}
