/** Replicas of the three stages of a migration, with real elections on one API server in memory. */
import { sleep } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { type KubeClient, KubeError, type KubeRequest, type WatchRequest } from "@tenure/kube";
import { Election } from "../election.ts";
import type { Lock } from "../lock.ts";
import { ConfigMapLock } from "../locks/annotation-lock.ts";
import { LeaseLock } from "../locks/lease-lock.ts";
import { MigrationLock } from "../locks/migration-lock.ts";
import type { KubeObject } from "../locks/object-kind.ts";
import type { ElectionOptions } from "../options.ts";
import { FakeApi } from "./fake-api.ts";
import { aborted } from "./replicas.ts";

/** Which locks a replica uses: only `from`, both, or only `to`. */
export type Stage = "old" | "both" | "new";

export class Rollout {
  readonly clock = new VirtualClock();
  readonly api = new FakeApi();
  readonly log: string[] = [];
  readonly tokens: bigint[] = [];
  working = 0;
  mostWorking = 0;

  constructor() {
    this.api.isLive = true;
  }

  /** Starts a replica with the locks of that stage. The returned function stops it. */
  start(
    identity: string,
    stage: Stage,
    options: Partial<ElectionOptions> & { readonly client?: KubeClient } = {},
  ): () => void {
    const stop = new AbortController();
    const { client = this.api.client, ...rest } = options;
    const election = new Election({
      lock: lockOf(stage, client),
      identity,
      clock: this.clock,
      random: () => 0.5,
      onOverrun: "report",
      // These tests count the requests for the locks.
      register: false,
      ...rest,
    });
    const work = async ({ signal, token }: { signal: AbortSignal; token: string }) => {
      this.working += 1;
      this.mostWorking = Math.max(this.mostWorking, this.working);
      this.tokens.push(BigInt(token));
      this.log.push(`${identity} works`);
      await aborted(signal);
      await sleep(this.clock, 20);
      this.working -= 1;
      this.log.push(`${identity} stopped`);
    };
    election.run(work, stop).catch(() => {});
    return () => stop.abort();
  }
}

/** The connection of one replica to the API server. While it is cut, nothing arrives in either direction. */
export class Connection {
  readonly #api: FakeApi;
  isCut = false;

  constructor(api: FakeApi) {
    this.#api = api;
  }

  get client(): KubeClient {
    return this as unknown as KubeClient;
  }

  namespace(): Promise<string | undefined> {
    return this.#api.namespace();
  }

  serverAddress(): Promise<string> {
    return this.#api.serverAddress();
  }

  async request(request: KubeRequest): Promise<unknown> {
    if (this.isCut) throw new KubeError("Unreachable", "the connection is cut");
    return this.#api.request(request);
  }

  watch(request: WatchRequest<KubeObject>): Promise<void> {
    return this.#api.watch({
      ...request,
      onEvent: (event) => {
        if (!this.isCut) request.onEvent(event);
      },
    });
  }
}

function lockOf(stage: Stage, client: KubeClient): Lock {
  const options = { name: "lock", namespace: "ns", client };
  const from = new ConfigMapLock(options);
  const to = new LeaseLock(options);
  return stage === "old" ? from : stage === "new" ? to : new MigrationLock({ from, to });
}
