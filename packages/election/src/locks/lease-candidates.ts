/** The LeaseCandidates of a coordinated election (coordination.k8s.io/v1beta1): how a candidate tells the API server that it takes part. */
import { type Failure, microTime } from "@tenure/core";
import { type KubeClient, KubeError } from "@tenure/kube";
import type { CoordinatedCandidate, Coordination, CoordinationObserver } from "../lock.ts";
import { failureFromError } from "./answers.ts";
import type { KubeObject } from "./object-kind.ts";

const root = "/apis/coordination.k8s.io/v1beta1";
/** A ping has to be answered within 5 s. */
const timeoutMs = 2_000;
const silentWatchMs = 150_000;

export interface LeaseCandidatesParts {
  readonly client: KubeClient;
  /** Known after the lock was prepared. */
  readonly namespace: () => string | undefined;
  readonly lockName: string;
}

export class LeaseCandidates implements Coordination {
  readonly #parts: LeaseCandidatesParts;

  constructor(parts: LeaseCandidatesParts) {
    this.#parts = parts;
  }

  async isServed(signal: AbortSignal): Promise<boolean> {
    try {
      const { resources = [] } = await this.#parts.client.request<{ resources?: { name?: string }[] }>({
        method: "GET",
        path: root,
        signal,
      });
      return resources.some(({ name }) => name === "leasecandidates");
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return false;
      throw error;
    }
  }

  /** A patch has no precondition, so an answer that got lost does no harm. */
  async renew(candidate: CoordinatedCandidate, signal: AbortSignal): Promise<Failure | undefined> {
    const { client } = this.#parts;
    const body = this.#objectOf(candidate);
    try {
      await client.request({
        method: "PATCH",
        path: this.#path(candidate.identity),
        contentType: "application/merge-patch+json",
        body,
        signal,
        timeoutMs,
      });
      return undefined;
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== "NotFound") return failureFromError(error);
    }
    try {
      if (!signal.aborted)
        await client.request({ method: "POST", path: this.#collection(), body, signal, timeoutMs });
      return undefined;
    } catch (error) {
      return failureFromError(error);
    }
  }

  async remove(identity: string, signal: AbortSignal): Promise<Failure | undefined> {
    try {
      await this.#parts.client.request({ method: "DELETE", path: this.#path(identity), signal, timeoutMs });
      return undefined;
    } catch (error) {
      return error instanceof KubeError && error.code === "NotFound" ? undefined : failureFromError(error);
    }
  }

  watch(identity: string, observer: CoordinationObserver, signal: AbortSignal): void {
    const watching = this.#parts.client.watch<KubeObject>({
      path: this.#collection(),
      query: { fieldSelector: `metadata.name=${identity}` },
      signal,
      idleMs: silentWatchMs,
      onUp: () => {},
      onDown: (error) => observer.failed(failureFromError(error)),
      onEvent: ({ type, object }) => {
        if (type === "DELETED") observer.deleted();
        else observer.observed(pingTimeOf(object));
      },
    });
    watching.catch((error) => observer.failed(failureFromError(error)));
  }

  #objectOf({ identity, renewMs, version, emulationVersion, strategy }: CoordinatedCandidate): KubeObject {
    return {
      apiVersion: "coordination.k8s.io/v1beta1",
      kind: "LeaseCandidate",
      metadata: { name: identity, namespace: this.#parts.namespace() ?? "" },
      spec: {
        leaseName: this.#parts.lockName,
        binaryVersion: version,
        emulationVersion,
        strategy,
        renewTime: microTime(renewMs, 0),
      },
    };
  }

  #collection(): string {
    return `${root}/namespaces/${this.#parts.namespace()}/leasecandidates`;
  }

  #path(identity: string): string {
    return `${this.#collection()}/${identity}`;
  }
}

function pingTimeOf({ spec }: KubeObject): string | undefined {
  const { pingTime } = (spec ?? {}) as { pingTime?: unknown };
  return typeof pingTime === "string" ? pingTime : undefined;
}
