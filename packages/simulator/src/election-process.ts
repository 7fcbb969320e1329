/** A process that runs what ships: an Election with a real lock and the real client, over a simulated network. */
import { first } from "@tenure/base";
import {
  ConfigMapLock,
  Election,
  type ElectionOptions,
  EndpointsLock,
  LeaseLock,
  type Lock,
  type ObjectLockOptions,
  type Term,
} from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";
import type { Platform } from "@tenure/kube/internal";
import type { Checker } from "./checker.ts";
import type { HttpApi } from "./http/api.ts";
import { simulatedHttp } from "./http/network.ts";
import { type LockKind, lockName, namespace } from "./http/objects.ts";
import type { Machine } from "./machine.ts";
import type { CandidateProcess } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

/** How long a SIGKILL takes at most. It is less than the margin of the timings. */
const killTakesMs = 50;
const cooldownMs = 2_000;

const locks: Record<LockKind, new (options: ObjectLockOptions) => Lock> = {
  Lease: LeaseLock,
  ConfigMap: ConfigMapLock,
  Endpoints: EndpointsLock,
};

export class ElectionProcess implements CandidateProcess {
  readonly id: string;
  readonly kind = "tenure";
  readonly machine: Machine;
  readonly leaseMs: number;
  readonly #election: Election;
  readonly #scheduler: Scheduler;
  readonly #checker: Checker;
  readonly #stop = new AbortController();
  #term: Term | undefined;
  #endWork = (): void => {};
  #killWork = (): void => {};

  constructor(
    id: string,
    options: Omit<ElectionOptions, "lock">,
    machine: Machine,
    scheduler: Scheduler,
    checker: Checker,
    api: HttpApi,
  ) {
    this.id = id;
    this.machine = machine;
    this.#scheduler = scheduler;
    this.#checker = checker;
    this.leaseMs = Number.parseInt(options.leaseDuration ?? "", 10) * 1_000;
    const { random, clock } = machine;
    const platform = platformOf(id, machine, scheduler, api);
    const client = new KubeClient(() => loadConfig({ platform }), { platform });
    const lock = new locks[api.kind]({ name: lockName, namespace, client, shareWatch: random.chance(0.3) });
    this.#election = new Election({
      ...options,
      lock,
      clock,
      random: random.next,
      onOverrun: "report",
      cooldown: `${cooldownMs}ms`,
      announce: random.chance(0.2),
    });
    this.#election.on("overrun", () => this.#after(random.between(0, killTakesMs), () => this.#killWork()));
    this.#election.on("term-ended", () => this.#cooldown());
  }

  get isLeading(): boolean {
    return this.#term !== undefined && this.machine.isRunning;
  }

  get longestLeaseMs(): number {
    return Math.max(this.leaseMs, this.machine.link.longestLeaseSeenMs);
  }

  get highestRevision(): bigint {
    const { uid, revision } = this.machine.link.seen;
    return uid === undefined ? -1n : revision;
  }

  knows(uid: string): boolean {
    return this.machine.link.seen.uid === uid;
  }

  start(): void {
    this.#checker.started(this);
    const exit = () => {
      this.#checker.unready(this.id);
      this.machine.kill();
    };
    this.#election.run((term) => this.#work(term), { signal: this.#stop.signal }).then(exit, exit);
  }

  shutdown(): void {
    this.machine.defer(() => {
      this.#checker.unready(this.id);
      this.#stop.abort();
    });
  }

  stepDown(): void {
    this.machine.defer(() => this.#election.stepDown());
  }

  endWork(): void {
    this.machine.defer(() => this.#endWork());
  }

  crash(): void {
    this.#checker.workStopped(this);
    this.#checker.unready(this.id);
    this.machine.kill();
  }

  freeze(): void {
    this.machine.freeze();
    this.#checker.workStopped(this);
  }

  thaw(): void {
    if (this.machine.isDead) return;
    // Work checks that its term is valid before it does anything. This is the check after a freeze.
    this.machine.defer(() => {
      if (this.#term?.isValid()) this.#checker.workStarted(this);
    });
    this.machine.thaw();
  }

  async #work(term: Term): Promise<void> {
    const { random, clock } = this.machine;
    this.#term = term;
    this.#checker.termStarted(this, term.token);
    this.#checker.workStarted(this);
    const ended = new Promise<void>((resolve) => {
      this.#endWork = resolve;
    });
    const killed = new Promise<void>((resolve) => {
      this.#killWork = resolve;
    });
    // The work may be told to stop, and then that the term is lost, and then be killed.
    const cause = await first(clock, { ended, killed, ending: term.signal });
    if (cause === "ending") {
      const isLost = term.lost.aborted;
      const lostMs = random.chance(0.3) ? 0 : random.between(0, 40_000);
      const stopped = isLost ? lostMs : random.between(0, 25_000);
      const lost = isLost ? undefined : term.lost;
      if ((await first(clock, { ended, killed, lost, stopped })) === "lost")
        await first(clock, { ended, killed, stopped: lostMs });
    }
    this.#term = undefined;
    this.#checker.workStopped(this);
  }

  #cooldown(): void {
    this.#checker.unready(this.id);
    this.#scheduler.after(cooldownMs, () => {
      if (!this.machine.isDead && !this.#stop.signal.aborted) this.#checker.ready(this.id);
    });
  }

  #after(delayMs: number, callback: () => void): void {
    this.#scheduler.after(delayMs, () => this.machine.defer(callback));
  }
}

/** The machine as the client sees it: a pod with a service account, whose token the kubelet keeps up to date. */
function platformOf(writer: string, machine: Machine, scheduler: Scheduler, api: HttpApi): Platform {
  const { clock, link, random, defer } = machine;
  return {
    clock,
    random: random.next,
    env: { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
    isTerminal: () => false,
    readFile: async (path) => {
      if (path.endsWith("token")) return api.authorization.replace("Bearer ", "");
      if (path.endsWith("namespace")) return namespace;
      throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
    },
    runProcess: () => Promise.reject(new Error("there are no programs in the simulation")),
    http: simulatedHttp({ api, link, scheduler, random, defer, writer }),
  };
}
