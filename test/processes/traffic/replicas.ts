/**
 * Replicas of one election in this process, each with its own connections and with only the permissions that it needs. A
 * replica can leave gracefully, crash, or be delayed so that its requests arrive late.
 */
import { Election, LeaseLock } from "@tenure/election";
import { KubeClient, type KubeRequest, loadConfig, type WatchRequest } from "@tenure/kube";
import {
  endpointSlice,
  endpointSliceRules,
  inTraffic,
  leaderConfigMap,
  leaderConfigMapRules,
  podLabel,
  podLabelRules,
  prepareGates,
} from "@tenure/traffic";
import type { LockTarget } from "../../conformance/locks-target.ts";

export const electionName = "web";

/** Everything that a replica needs, and nothing else. */
export const rules: readonly object[] = [
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
  {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: [electionName],
    verbs: ["get", "update", "watch"],
  },
  ...podLabelRules(),
  ...endpointSliceRules({ service: electionName }),
  ...leaderConfigMapRules(),
];

/** Short, but long enough for a busy machine. */
export const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "500ms" };

/** A client that can hold its requests back and send them later, even if the caller no longer waits. */
class DelayableClient extends KubeClient {
  #isDelayed = false;
  #waiting: (() => void)[] = [];

  delay(): void {
    this.#isDelayed = true;
  }

  resume(): void {
    this.#isDelayed = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  override async request<T>(request: KubeRequest): Promise<T> {
    if (!this.#isDelayed) return super.request<T>(request);
    const { signal, timeoutMs, ...rest } = request;
    const late = new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() =>
      super.request<T>(rest),
    );
    late.catch(() => {});
    const aborted = new Promise<never>((_, reject) => {
      const end = () => reject(new Error("aborted"));
      signal?.addEventListener("abort", end, { once: true });
      setTimeout(end, timeoutMs ?? 10_000).unref();
    });
    return Promise.race([late, aborted]);
  }

  override async watch<T>(request: WatchRequest<T>): Promise<void> {
    // A delayed watch is silent, as if a router had failed.
    await super.watch<T>({
      ...request,
      onEvent: (event) => {
        if (!this.#isDelayed) request.onEvent(event);
      },
    });
  }
}

export interface Replica {
  readonly pod: string;
  readonly address: string;
  readonly election: Election;
  readonly errors: string[];
  readonly isLeading: boolean;
  /** Like SIGTERM. */
  leave(): Promise<void>;
  /** Like SIGKILL: it sends nothing any more. */
  crash(): void;
  delay(): void;
  resume(): void;
}

export async function startReplica(
  { target }: LockTarget,
  kubeconfig: string,
  namespace: string,
  number: number,
): Promise<Replica> {
  const pod = `web-${number}`;
  const address = `10.1.${number >> 8}.${(number & 255) + 1}`;
  const { status, body } = await target.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: pod },
    spec: { containers: [{ name: "app", image: "app:1" }] },
  });
  if (status !== 201) throw new Error(`cannot create pod ${pod}: ${JSON.stringify(body)}`);
  const clients = [1, 2].map(() => new DelayableClient(() => loadConfig({ kubeconfig }))) as [
    DelayableClient,
    DelayableClient,
  ];
  const [forLock, client] = clients;
  const errors: string[] = [];
  const onError = (error: Error) => void errors.push(error.message);
  const common = { client, namespace, pod, election: electionName, onError };
  const gates = [
    podLabel(common),
    endpointSlice({ ...common, service: electionName, address }),
    leaderConfigMap(common),
  ];
  await prepareGates(gates);
  const lock = new LeaseLock({ namespace, name: electionName, client: forLock });
  const election = new Election({ ...timings, lock, identity: pod, onOverrun: "report" });
  const shutdown = new AbortController();
  const run = election.run(
    inTraffic({
      election,
      gates,
      onError,
      work: async ({ signal }, ready) => {
        await ready();
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener("abort", () => resolve());
        });
      },
    }),
    { signal: shutdown.signal },
  );
  run.catch(onError);
  return {
    pod,
    address,
    election,
    errors,
    get isLeading() {
      return election.term?.isValid() === true && !election.term.signal.aborted;
    },
    async leave() {
      shutdown.abort();
      await run;
      for (const each of clients) each.close();
    },
    crash() {
      for (const each of clients) each.close();
      shutdown.abort();
    },
    delay() {
      for (const each of clients) each.delay();
    },
    resume() {
      for (const each of clients) each.resume();
    },
  };
}
