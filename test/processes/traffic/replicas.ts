/**
 * Replicas of one election in this process, each with its own connections and no more rights than it needs, which can be
 * asked to leave, be cut off as if they had died, and be held up so that what they sent arrives late.
 */
import { Election, LeaseLock } from "@tenure/election";
import { KubeClient, type KubeRequest, loadConfig, type WatchRequest } from "@tenure/kube";
import { endpointSlice, inTraffic, leaderConfigMap, podLabel, prepareGates } from "@tenure/traffic";
import { endpointSliceRules, leaderConfigMapRules, podLabelRules } from "@tenure/traffic/internal";
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

/** Short, and long enough for a busy machine. */
export const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "500ms" };

/** A client that can be stopped at the door: what was asked is sent later, whoever gave it up meanwhile. */
class Link extends KubeClient {
  #isHeld = false;
  #waiting: (() => void)[] = [];

  hold(): void {
    this.#isHeld = true;
  }

  letGo(): void {
    this.#isHeld = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  override async request<T>(request: KubeRequest): Promise<T> {
    if (!this.#isHeld) return super.request<T>(request);
    const { signal, timeoutMs, ...rest } = request;
    const late = new Promise<void>((resolve) => this.#waiting.push(resolve)).then(() =>
      super.request<T>(rest),
    );
    late.catch(() => {});
    const givenUp = new Promise<never>((_, reject) => {
      const end = () => reject(new Error("given up"));
      signal?.addEventListener("abort", end, { once: true });
      setTimeout(end, timeoutMs ?? 10_000).unref();
    });
    return Promise.race([late, givenUp]);
  }

  override async watch<T>(request: WatchRequest<T>): Promise<void> {
    // A held watch is silent, as one through a dead router is.
    await super.watch<T>({
      ...request,
      onEvent: (event) => {
        if (!this.#isHeld) request.onEvent(event);
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
  /** As SIGTERM does it. */
  leave(): Promise<void>;
  /** As SIGKILL does it: nothing of it is heard any more. */
  crash(): void;
  hold(): void;
  letGo(): void;
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
  if (status !== 201) throw new Error(`cannot make pod ${pod}: ${JSON.stringify(body)}`);
  const links = [1, 2].map(() => new Link(() => loadConfig({ kubeconfig }))) as [Link, Link];
  const [forLock, client] = links;
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
      for (const link of links) link.close();
    },
    crash() {
      for (const link of links) link.close();
      shutdown.abort();
    },
    hold() {
      for (const link of links) link.hold();
    },
    letGo() {
      for (const link of links) link.letGo();
    },
  };
}
