/**
 * Shows candidates to operators: one small Lease for each candidate, next to the lock. No candidate reads these Leases, so
 * whatever is in them, nobody leads because of it.
 */
import { attendanceTimings, type Failure, hashOfKey, hexHash, microTime } from "@tenure/core";
import { type KubeClient, KubeError } from "@tenure/kube";
import { formatRule, nameProblem } from "@tenure/kube/internal";
import type { CandidateRegistry, ShownCandidate } from "../lock.ts";
import { failureFromError } from "./answers.ts";
import type { KubeObject } from "./object-kind.ts";

/** The label of the Lease of a candidate. Its value is `candidateLabelValue` of the name of the lock. */
export const candidateLabel = "tenure.dev/candidate-of";

/** What the candidate is doing, and why it does not lead. */
export const candidateAnnotations = {
  election: "tenure.dev/election-name",
  standing: "tenure.dev/standing",
  reason: "tenure.dev/standing-reason",
} as const;

const collectionRoot = "/apis/coordination.k8s.io/v1/namespaces";
const longestReason = 400;
const neededRule = {
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  verbs: ["list", "patch", "delete"],
};
/** No other request waits for these, and a server that is this slow has more important work. */
const timeoutMs = 5_000;

/** A label has at most 63 characters. */
export function candidateLabelValue(lockName: string): string {
  return lockName.length <= 63 ? lockName : hexHash(hashOfKey(lockName));
}

/** The beginning of the names of the Leases of an election's candidates. */
export function candidateLeasePrefix(lockName: string): string {
  return `${lockName}.candidate.`;
}

export function candidateLeaseName(lockName: string, identity: string): string {
  const hash = (text: string) => hexHash(hashOfKey(text)).replace(/^0x/, "");
  // An identity need not be a valid name of an object, and both together may be too long for one.
  const names = [
    `${candidateLeasePrefix(lockName)}${identity}`,
    `${candidateLeasePrefix(lockName)}${hash(identity)}`,
    `${candidateLeasePrefix(hash(lockName))}${hash(identity)}`,
  ];
  return names.find((name) => nameProblem("name", name) === undefined) as string;
}

export interface CandidateLeasesParts {
  readonly client: KubeClient;
  /** Known after the lock was prepared. */
  readonly namespace: () => string | undefined;
  readonly lockName: string;
}

export class CandidateLeases implements CandidateRegistry {
  readonly #parts: CandidateLeasesParts;

  constructor(parts: CandidateLeasesParts) {
    this.#parts = parts;
  }

  /**
   * The patch comes first, even for a new candidate: one without the permission to patch must not create a Lease that it cannot
   * remove either. A patch has no precondition, so an answer that got lost does no harm.
   */
  publish(candidate: ShownCandidate, signal: AbortSignal): Promise<Failure | undefined> {
    const body = this.#leaseOf(candidate);
    return failureOf(async () => {
      const isPatched = await unlessAbsent(() => this.#patch(candidate.identity, body, signal));
      if (isPatched || signal.aborted) return;
      await this.#parts.client.request({
        method: "POST",
        path: this.#collection(),
        body,
        signal,
        timeoutMs,
      });
    });
  }

  withdraw(identity: string, signal: AbortSignal): Promise<Failure | undefined> {
    return failureOf(async () => {
      const path = this.#path(candidateLeaseName(this.#parts.lockName, identity));
      await unlessAbsent(() => this.#parts.client.request({ method: "DELETE", path, signal, timeoutMs }));
    });
  }

  /** Removes Leases that were not renewed for an hour. A live candidate whose clock is that wrong writes its Lease again. */
  sweep(nowMs: number, signal: AbortSignal): Promise<Failure | undefined> {
    const { client, lockName } = this.#parts;
    return failureOf(async () => {
      const labelSelector = `${candidateLabel}=${candidateLabelValue(lockName)}`;
      const { items = [] } = await client.request<{ items?: KubeObject[] }>({
        method: "GET",
        path: this.#collection(),
        query: { labelSelector },
        signal,
        timeoutMs,
      });
      for (const object of items) if (isForgotten(object, nowMs)) await this.#remove(object, signal);
    });
  }

  async #remove({ metadata }: KubeObject, signal: AbortSignal): Promise<void> {
    const { name = "", uid, resourceVersion } = metadata;
    const body = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions: { uid, resourceVersion },
    };
    const path = this.#path(name);
    try {
      await unlessAbsent(() =>
        this.#parts.client.request({ method: "DELETE", path, body, signal, timeoutMs }),
      );
    } catch (error) {
      // The candidate has come back.
      if (!(error instanceof KubeError) || error.code !== "Conflict") throw error;
    }
  }

  #patch(identity: string, body: KubeObject, signal: AbortSignal): Promise<unknown> {
    return this.#parts.client.request({
      method: "PATCH",
      path: this.#path(candidateLeaseName(this.#parts.lockName, identity)),
      contentType: "application/merge-patch+json",
      body,
      signal,
      timeoutMs,
    });
  }

  #leaseOf({ identity, standing, renewMs }: ShownCandidate): KubeObject {
    const { lockName } = this.#parts;
    return {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: {
        name: candidateLeaseName(lockName, identity),
        namespace: this.#parts.namespace() ?? "",
        labels: { [candidateLabel]: candidateLabelValue(lockName) },
        annotations: {
          [candidateAnnotations.election]: lockName,
          [candidateAnnotations.standing]: standing.name,
          [candidateAnnotations.reason]: standing.reason.slice(0, longestReason),
        },
      },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: attendanceTimings.leaseSeconds,
        renewTime: microTime(renewMs, 0),
      },
    };
  }

  #collection(): string {
    return `${collectionRoot}/${this.#parts.namespace()}/leases`;
  }

  #path(name: string): string {
    return `${this.#collection()}/${name}`;
  }
}

function isForgotten({ spec }: KubeObject, nowMs: number): boolean {
  const { renewTime } = (spec ?? {}) as { renewTime?: unknown };
  const renewedMs = Date.parse(String(renewTime));
  return !(nowMs - renewedMs < attendanceTimings.forgottenMs);
}

async function failureOf(act: () => Promise<void>): Promise<Failure | undefined> {
  try {
    await act();
    return undefined;
  } catch (error) {
    const failure = failureFromError(error);
    if (failure.kind !== "denied") return failure;
    // The rule that the error names allows this one Lease. The name of the next candidate is not known yet.
    const message = failure.message.replace(
      / Add to its Role: [\s\S]*$/,
      ` Add to its Role: ${formatRule(neededRule)}.`,
    );
    return { ...failure, message };
  }
}

/** Whether the object exists. */
async function unlessAbsent(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.code === "NotFound") return false;
    throw error;
  }
}
