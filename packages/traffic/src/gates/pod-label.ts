/**
 * Puts the label `tenure.dev/role=leader` on the pod of the leader and `standby` on the others, for a Service whose selector
 * includes it. Every replica can be Ready, and no rollout waits for a standby.
 *
 * Guarantees: never two pods of an election with the label `leader`, however late the server executes a request. Before a
 * leader labels its own pod, it writes `standby` and its token on every other pod of the election. A write that an earlier
 * leader decided on before that is rejected (compare-and-swap: the pod has changed). A write that it would decide on later is
 * not sent (the token on the pod is higher than its own). For this, every pod must have the label with the name of the
 * election before it becomes a candidate: from `prepare`, or from the pod template.
 * Not promised: the same if somebody edits these labels by hand; the leader corrects that at its next renewal. Nor how soon
 * endpoints and proxies follow. After a crash, the pod of the dead leader keeps the label until the next term begins.
 * A takeover costs one list request, and one write per pod of the election.
 */
import { systemClock } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import { rejectProblems, TrafficError } from "../errors.ts";
import type { Gate, GateTerm } from "../gate.ts";
import * as names from "../names.ts";
import { type Call, type GateBackend, KubeGate, type KubeGateOptions } from "./kube-gate.ts";
import { find, type KubeObject, rejectIfFenced, tokenOf } from "./objects.ts";

export interface PodLabelOptions extends KubeGateOptions {
  /** The name of this pod. */
  readonly pod: string;
  /** The name of the election. Each of its pods has it in the label `tenure.dev/election`. */
  readonly election: string;
  /** The label for the role. Change it for a pod that is a candidate in several elections. @default "tenure.dev/role" */
  readonly roleLabel?: string;
  /** The label for the name of the election. Change it for the same reason. @default "tenure.dev/election" */
  readonly electionLabel?: string;
}

type Role = "leader" | "standby";

/** How many other pods are written at the same time. */
const parallelWrites = 8;
/** Pods per response. Keeps responses far below the size limit of the client. */
const pageSize = 200;

export function podLabel(options: PodLabelOptions): Gate {
  rejectProblems("label the pod", [
    nameProblem("namespace", options.namespace),
    nameProblem("pod", options.pod),
    nameProblem("election", options.election),
  ]);
  const clock = options.clock ?? systemClock;
  const backend = new LabelledPods(options, () => clock.now().wallMs);
  return new KubeGate(`label of pod ${options.pod}`, backend, options);
}

class LabelledPods implements GateBackend {
  readonly #pod: string;
  readonly #namespace: string;
  readonly #election: string;
  readonly #roleLabel: string;
  readonly #electionLabel: string;
  readonly #now: () => number;
  /** Identifies the pod that this process runs in: a StatefulSet replaces a pod by another one of the same name. */
  #uid: string | undefined;

  constructor(options: PodLabelOptions, now: () => number) {
    this.#pod = options.pod;
    this.#namespace = options.namespace;
    this.#election = names.electionLabelValue(options.election);
    this.#roleLabel = options.roleLabel ?? names.roleLabel;
    this.#electionLabel = options.electionLabel ?? names.electionLabel;
    this.#now = now;
  }

  /** After a restart of the container, the pod may still have the label `leader` from before. */
  async prepare(call: Call): Promise<void> {
    const own = await this.#own(call);
    const { labels = {} } = own.metadata;
    const election = labels[this.#electionLabel];
    if (election !== undefined && election !== this.#election) {
      throw new TrafficError(
        "Taken",
        `Cannot label pod ${this.#namespace}/${this.#pod}: it belongs to the election ${election} (label ${this.#electionLabel}), not to ` +
          `${this.#election}. Correct the label in the pod template, or use another label for this election.`,
      );
    }
    if (election !== this.#election || labels[this.#roleLabel] !== "standby")
      await this.#write(call, own, "standby", undefined);
    // The result is not used: this only finds out early whether the permission to list exists.
    await this.#list(call, this.#leaders());
  }

  async takeOver(call: Call, term: GateTerm): Promise<void> {
    const leaders = await this.#list(call, this.#leaders());
    const others = leaders.filter(({ metadata }) => metadata.name !== this.#pod);
    await Promise.all(others.map((pod) => this.#fence(call, pod, term)));
  }

  async open(call: Call, term: GateTerm): Promise<void> {
    const pods = await this.#list(call, `${this.#electionLabel}=${this.#election}`);
    const others = pods.filter(({ metadata }) => metadata.name !== this.#pod);
    for (let index = 0; index < others.length; index += parallelWrites) {
      await Promise.all(
        others.slice(index, index + parallelWrites).map((pod) => this.#fence(call, pod, term)),
      );
    }
    // Read before the other pods were fenced: if the pod changed since, the write conflicts and everything is repeated.
    const own = pods.find(({ metadata }) => metadata.name === this.#pod) ?? (await this.#own(call));
    this.#rejectIfReplaced(own);
    rejectIfFenced(own, BigInt(term.token), this.#what(own));
    await this.#write(call, own, "leader", BigInt(term.token));
  }

  async check(call: Call, term: GateTerm): Promise<string | undefined> {
    const leaders = await this.#list(call, this.#leaders());
    const others = leaders.filter(({ metadata }) => metadata.name !== this.#pod);
    const own = leaders.find(({ metadata }) => metadata.name === this.#pod);
    const isOwn = own !== undefined && tokenOf(own) === BigInt(term.token);
    if (isOwn && others.length === 0) return undefined;
    await this.open(call, term);
    const taken = others.map(({ metadata }) => metadata.name).join(", ");
    return [
      ...(isOwn ? [] : [`somebody changed ${this.#roleLabel} on pod ${this.#pod}; it is leader again`]),
      ...(taken ? [`somebody also labelled ${taken} as leader; that label is removed`] : []),
    ].join("; ");
  }

  async close(call: Call, term: GateTerm): Promise<void> {
    const own = await find(call, this.#path(this.#pod));
    if (!own || own.metadata.uid !== this.#uid || tokenOf(own) > BigInt(term.token)) return;
    await this.#write(call, own, "standby", BigInt(term.token));
  }

  /** After this, no write of an earlier term can label the pod as leader. */
  async #fence(call: Call, pod: KubeObject, term: GateTerm): Promise<void> {
    for (let current: KubeObject | undefined = pod; current; ) {
      rejectIfFenced(current, BigInt(term.token), this.#what(current));
      const isStandby = current.metadata.labels?.[this.#roleLabel] === "standby";
      if (isStandby && tokenOf(current) === BigInt(term.token)) return;
      try {
        await this.#write(call, current, "standby", BigInt(term.token));
        return;
      } catch (error) {
        const code = error instanceof KubeError ? error.code : undefined;
        // The pod was deleted, so it receives no traffic.
        if (code === "NotFound") return;
        if (code !== "Conflict") throw error;
        current = await find(call, this.#path(current.metadata.name ?? ""));
      }
    }
  }

  async #own(call: Call): Promise<KubeObject> {
    const own = await find(call, this.#path(this.#pod));
    if (!own) {
      throw new TrafficError(
        "CannotOpen",
        `Cannot label pod ${this.#namespace}/${this.#pod}: the pod does not exist. Set POD_NAME to the name of the pod that this process runs in, and the namespace to that of the pod.`,
      );
    }
    this.#uid ??= own.metadata.uid;
    this.#rejectIfReplaced(own);
    return own;
  }

  #rejectIfReplaced(own: KubeObject): void {
    if (own.metadata.uid === this.#uid) return;
    throw new TrafficError(
      "Fenced",
      `Cannot label pod ${this.#namespace}/${this.#pod}: it was replaced by another pod of the same name.`,
    );
  }

  async #list(call: Call, labelSelector: string): Promise<KubeObject[]> {
    const pods: KubeObject[] = [];
    for (let next: string | undefined; ; ) {
      const page: { items: KubeObject[]; metadata?: { continue?: string } } = await call({
        method: "GET",
        path: this.#path(),
        // Without a resourceVersion the read is consistent: a pod that is missing in the response did not exist.
        query: { labelSelector, limit: String(pageSize), continue: next },
      });
      pods.push(...page.items);
      next = page.metadata?.continue || undefined;
      if (!next) return pods;
    }
  }

  async #write(call: Call, pod: KubeObject, role: Role, token: bigint | undefined): Promise<void> {
    const { name = "", resourceVersion } = pod.metadata;
    await call({
      method: "PATCH",
      path: this.#path(name),
      contentType: "application/merge-patch+json",
      body: {
        metadata: {
          resourceVersion,
          labels: { [this.#roleLabel]: role, [this.#electionLabel]: this.#election },
          annotations: {
            ...(token !== undefined && { [names.tokenAnnotation]: String(token) }),
            [names.sinceAnnotation]: new Date(this.#now()).toISOString(),
          },
        },
      },
    });
  }

  #leaders(): string {
    return `${this.#electionLabel}=${this.#election},${this.#roleLabel}=leader`;
  }

  #path(name?: string): string {
    return `/api/v1/namespaces/${this.#namespace}/pods${name === undefined ? "" : `/${name}`}`;
  }

  #what({ metadata }: KubeObject): string {
    return `pod ${metadata.namespace}/${metadata.name}`;
  }
}
