/**
 * Keeps a node known to the cluster: creates its Node object, gives it a network for its pods, and renews its Lease. A node whose
 * Lease is not renewed counts as lost.
 */
import { Backoff, sleep } from "@tenure/base";
import { type ApiClient, objectPath } from "../../client/api.ts";
import type { Lease, Node } from "../../client/objects.ts";
import { leases, nodes } from "../../client/resources.ts";
import { freePodNetworks } from "../addresses.ts";
import type { NodePlatform } from "../platform.ts";
import { formatMicroTime } from "../time.ts";
import { type AgentAddress, labelsOf, type NodeFacts, nodeConditions, nodeStatus } from "./node-object.ts";

const leaseNamespace = "kube-node-lease";
const leaseSeconds = 40;
const renewMs = 10_000;
/** The whole status is written this often, even if nothing changes. */
const statusMs = 300_000;
const backoff = { firstMs: 100, mostMs: 7_000, jitter: 0.3 };

export interface RegistrationOptions {
  readonly client: ApiClient;
  readonly platform: NodePlatform;
  readonly facts: NodeFacts;
  /** Takes a network for pods on this machine. Undefined if another agent of this machine has it. */
  readonly claim: (network: string) => Promise<AgentAddress | undefined>;
  readonly onError: (error: unknown) => void;
}

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #client: ApiClient;
  readonly #platform: NodePlatform;
  readonly #facts: NodeFacts;
  readonly #onError: (error: unknown) => void;
  #agent: AgentAddress | undefined;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#client = options.client;
    this.#platform = options.platform;
    this.#facts = options.facts;
    this.#onError = options.onError;
  }

  /** The address of the node. Known after it is registered. */
  get address(): string {
    return this.#agent?.address ?? "";
  }

  /** Creates or takes over the Node object. Resolves with it. It has a network for its pods. */
  async register(signal: AbortSignal): Promise<Node> {
    const wait = new Backoff(backoff, this.#platform.random);
    for (;;) {
      signal.throwIfAborted();
      try {
        const node = await this.#create();
        if (node) return node;
      } catch (error) {
        this.#onError(error);
        await sleep(this.#platform.clock, wait.next(), signal);
      }
    }
  }

  /** Renews the Lease and the status until the signal aborts. */
  async keepAlive(node: Node, signal: AbortSignal): Promise<void> {
    let statusAtMs = this.#platform.clock.now().monoMs;
    const wait = new Backoff(backoff, this.#platform.random);
    while (!signal.aborted) {
      try {
        await this.#renew(node, signal);
        const { monoMs } = this.#platform.clock.now();
        if (monoMs - statusAtMs >= statusMs) {
          await this.writeStatus(true);
          statusAtMs = monoMs;
        }
        wait.reset();
        await sleep(this.#platform.clock, renewMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#onError(error);
        await sleep(this.#platform.clock, wait.next(), signal);
      }
    }
  }

  async writeStatus(isReady: boolean): Promise<void> {
    const { name, isolation } = this.#facts;
    const agent = this.#agent;
    if (!agent) return;
    const { status } = await this.#client.request<Node>({ method: "GET", path: objectPath(nodes, { name }) });
    const { wallMs } = this.#platform.clock.now();
    const conditions = nodeConditions(isReady, isolation, status?.conditions ?? [], wallMs);
    await this.#client.request({
      method: "PATCH",
      path: objectPath(nodes, { name }, "status"),
      contentType: "application/strategic-merge-patch+json",
      body: { status: { ...nodeStatus(this.#facts, agent), conditions } },
    });
  }

  /** Undefined: two nodes took the same network at the same time, and this one has to try again. */
  async #create(): Promise<Node | undefined> {
    const { name } = this.#facts;
    const { items } = await this.#client.request<{ items: Node[] }>({ method: "GET", path: "/api/v1/nodes" });
    const own = items.find(({ metadata }) => metadata.name === name);
    if (own?.spec?.podCIDR && (await this.#claim([own.spec.podCIDR]))) return this.#updateLabels(own);
    // Another agent of this machine took its network. The network of a node cannot change, but a new node can have another.
    if (own) await this.#client.request({ method: "DELETE", path: objectPath(nodes, { name }) });
    const podCIDR = await this.#claim(freePodNetworks(new Set(items.map(({ spec }) => spec?.podCIDR ?? ""))));
    if (!podCIDR) throw new Error("Cannot register the node: all 256 networks for pods are in use.");
    const labels = labelsOf(this.#facts);
    const created = await this.#client.request<Node>({
      method: "POST",
      path: "/api/v1/nodes",
      body: {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name, labels },
        spec: { podCIDR, podCIDRs: [podCIDR] },
      },
    });
    const after = await this.#client.request<{ items: Node[] }>({ method: "GET", path: "/api/v1/nodes" });
    const rivals = after.items.filter(
      (other) => other.metadata.name !== name && other.spec?.podCIDR === podCIDR,
    );
    if (rivals.every(({ metadata }) => metadata.uid > created.metadata.uid)) return created;
    await this.#client.request({ method: "DELETE", path: objectPath(nodes, { name }) });
    return undefined;
  }

  async #claim(networks: readonly string[]): Promise<string | undefined> {
    for (const network of networks) {
      this.#agent = await this.#options.claim(network);
      if (this.#agent) return network;
    }
    return undefined;
  }

  #updateLabels(node: Node): Promise<Node> {
    const labels = labelsOf(this.#facts);
    const isSame = Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value);
    return isSame ? Promise.resolve(node) : this.#patch({ metadata: { labels } });
  }

  #patch(body: object): Promise<Node> {
    return this.#client.request<Node>({
      method: "PATCH",
      path: objectPath(nodes, { name: this.#facts.name }),
      contentType: "application/merge-patch+json",
      body,
    });
  }

  async #renew(node: Node, signal: AbortSignal): Promise<void> {
    const { name } = this.#facts;
    const path = objectPath(leases, { namespace: leaseNamespace, name });
    const renewTime = formatMicroTime(this.#platform.clock.now().wallMs);
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    try {
      await this.#client.request<Lease>({
        method: "PATCH",
        path,
        contentType: "application/merge-patch+json",
        body: { spec },
        timeoutMs: renewMs,
        signal,
      });
    } catch (error) {
      if ((error as { code?: unknown }).code !== "NotFound") throw error;
      const owner = { apiVersion: "v1", kind: "Node", name, uid: node.metadata.uid };
      await this.#client.request<Lease>({
        method: "POST",
        path: path.slice(0, path.lastIndexOf("/")),
        body: {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name, namespace: leaseNamespace, ownerReferences: [owner] },
          spec,
        },
        signal,
      });
    }
  }
}
