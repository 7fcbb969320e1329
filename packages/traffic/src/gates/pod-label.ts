/**
 * The label `tenure.dev/role=leader` on the leader's pod and `standby` on the others, for a Service whose selector asks for
 * it. Every replica can be Ready, and no rollout waits for a standby.
 *
 * Upholds: never two pods of an election with the label, however late a request is carried out. Before a leader labels its
 * own pod it writes its token on every other pod of the election, and `standby`. A write that an earlier leader decided on
 * before that is refused (compare-and-swap: the pod has changed), and one that it decides on later is not sent (the token is
 * higher than its own). This is why pods carry the election's name from before they take part (`prepare`, or the template).
 * Not promised: that against somebody who edits these labels by hand; it is mended at the next renewal. Nor how soon
 * endpoints and proxies follow. After a crash the dead leader's pod keeps the label until its successor takes it away.
 * A takeover costs one list and one write for each pod of the election.
 */
import { KubeError } from "@tenure/kube";
import { TrafficError } from "../errors.ts";
import type { Gate, GateTerm } from "../gate.ts";
import * as names from "../names.ts";
import { systemClock } from "../platform.ts";
import { type Call, KubeGate, type KubeGateOptions, type Place } from "./kube-gate.ts";
import { find, type KubeObject, refuseIfFenced, tokenOf } from "./objects.ts";

export interface PodLabelOptions extends KubeGateOptions {
  /** This pod's name. */
  readonly pod: string;
  /** The election's name; it stands on each of its pods as `tenure.dev/election`. */
  readonly election: string;
  /** The label to set, for a pod that takes part in several elections. @default "tenure.dev/role" */
  readonly roleLabel?: string;
  /** The label with the election's name, likewise. @default "tenure.dev/election" */
  readonly electionLabel?: string;
}

type Role = "leader" | "standby";

/** Writes on other pods that go out at once. */
const atOnce = 8;
/** Pods in one answer, which must stay far below what the client takes. */
const pageSize = 200;

export function podLabel(options: PodLabelOptions): Gate {
  const problems = [
    names.nameProblem("namespace", options.namespace),
    names.nameProblem("pod", options.pod),
    names.nameProblem("election", options.election),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0)
    throw new TrafficError("InvalidOptions", `Cannot label the pod: ${problems.join("; ")}.`);
  const clock = options.clock ?? systemClock;
  const place = new LabelledPods(options, () => clock.now().wallMs);
  return new KubeGate(`label of pod ${options.pod}`, place, options);
}

class LabelledPods implements Place {
  readonly #pod: string;
  readonly #namespace: string;
  readonly #election: string;
  readonly #roleLabel: string;
  readonly #electionLabel: string;
  readonly #now: () => number;
  /** Which pod of that name this process runs in: a StatefulSet makes another one of the same name. */
  #uid: string | undefined;

  constructor(options: PodLabelOptions, now: () => number) {
    this.#pod = options.pod;
    this.#namespace = options.namespace;
    this.#election = names.electionLabelValue(options.election);
    this.#roleLabel = options.roleLabel ?? names.roleLabel;
    this.#electionLabel = options.electionLabel ?? names.electionLabel;
    this.#now = now;
  }

  /** A container that was restarted may find its pod labelled as leader, by its earlier life. */
  async prepare(call: Call): Promise<void> {
    const own = await this.#own(call);
    const { labels = {} } = own.metadata;
    const election = labels[this.#electionLabel];
    if (election !== undefined && election !== this.#election) {
      throw new TrafficError(
        "Taken",
        `Cannot label pod ${this.#namespace}/${this.#pod}: it belongs to the election ${election} (label ${this.#electionLabel}), not to ` +
          `${this.#election}. Set that label right in the pod's template, or use another label for this election.`,
      );
    }
    if (election !== this.#election || labels[this.#roleLabel] !== "standby")
      await this.#write(call, own, "standby", undefined);
    // Only to learn now rather than at the first term whether it may.
    await this.#list(call, this.#leaders());
  }

  async enter(call: Call, term: GateTerm): Promise<void> {
    const pods = await this.#list(call, `${this.#electionLabel}=${this.#election}`);
    const others = pods.filter(({ metadata }) => metadata.name !== this.#pod);
    for (let index = 0; index < others.length; index += atOnce) {
      await Promise.all(others.slice(index, index + atOnce).map((pod) => this.#fence(call, pod, term)));
    }
    // As it was before the others were fenced: if it changed since, the write is refused and all of this repeated.
    const own = pods.find(({ metadata }) => metadata.name === this.#pod) ?? (await this.#own(call));
    this.#refuseIfReplaced(own);
    refuseIfFenced(own, term.token, this.#what(own));
    await this.#write(call, own, "leader", term.token);
  }

  async check(call: Call, term: GateTerm): Promise<string | undefined> {
    const leaders = await this.#list(call, this.#leaders());
    const others = leaders.filter(({ metadata }) => metadata.name !== this.#pod);
    const own = leaders.find(({ metadata }) => metadata.name === this.#pod);
    const isOwn = own !== undefined && tokenOf(own) === term.token;
    if (isOwn && others.length === 0) return undefined;
    await this.enter(call, term);
    const taken = others.map(({ metadata }) => metadata.name).join(", ");
    return [
      ...(isOwn ? [] : [`somebody changed ${this.#roleLabel} on pod ${this.#pod}; it is leader again`]),
      ...(taken ? [`somebody had labelled ${taken} as leader too; not any more`] : []),
    ].join("; ");
  }

  async leave(call: Call, term: GateTerm): Promise<void> {
    const own = await find(call, this.#path(this.#pod));
    if (!own || own.metadata.uid !== this.#uid || tokenOf(own) > term.token) return;
    await this.#write(call, own, "standby", term.token);
  }

  /** After this no write of an earlier term can label that pod. */
  async #fence(call: Call, pod: KubeObject, term: GateTerm): Promise<void> {
    for (let current: KubeObject | undefined = pod; current; ) {
      refuseIfFenced(current, term.token, this.#what(current));
      const isStandby = current.metadata.labels?.[this.#roleLabel] === "standby";
      if (isStandby && tokenOf(current) === term.token) return;
      try {
        await this.#write(call, current, "standby", term.token);
        return;
      } catch (error) {
        const code = error instanceof KubeError ? error.code : undefined;
        // Gone, and its process with it or soon.
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
        `Cannot label pod ${this.#namespace}/${this.#pod}: there is no such pod. POD_NAME must be the name of the pod that this runs in, and the namespace that of the pod.`,
      );
    }
    this.#uid ??= own.metadata.uid;
    this.#refuseIfReplaced(own);
    return own;
  }

  #refuseIfReplaced(own: KubeObject): void {
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
        // Without a resourceVersion the answer is as new as the store: a pod that is missing in it was not there.
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
