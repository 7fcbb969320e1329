/** The objects around the elections of a namespace. Undefined if the user may not list them, or if the server does not know them. */
import { KubeError } from "@tenure/kube";
import type { LockClient } from "../../elections/find.ts";
import type { Pod } from "./pods.ts";
import type { Amount, Labelled, Selector, Workload } from "./workload.ts";

export interface Budget extends Labelled {
  readonly spec?: {
    readonly selector?: Selector;
    readonly minAvailable?: Amount;
    readonly maxUnavailable?: Amount;
  };
}

export interface Slice extends Labelled {
  readonly endpoints?: readonly {
    readonly addresses?: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly kind?: string; readonly name?: string };
  }[];
}

interface ConfigMap extends Labelled {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Service extends Labelled {
  readonly spec?: { readonly selector?: Readonly<Record<string, string>> };
}

interface ServiceAccount extends Labelled {
  readonly automountServiceAccountToken?: boolean;
}

/** A kind that the user may not list. */
export interface Denial {
  readonly apiGroup: string;
  readonly plural: string;
}

export interface Workloads {
  readonly pods: readonly Pod[] | undefined;
  readonly workloads: readonly Workload[] | undefined;
  readonly denials: readonly Denial[];
}

export interface Snapshot extends Workloads {
  readonly budgets: readonly Budget[] | undefined;
  readonly services: readonly Service[] | undefined;
  readonly accounts: readonly ServiceAccount[] | undefined;
  readonly slices: readonly Slice[] | undefined;
  /** Those in which an election publishes its leader. */
  readonly configMaps: readonly ConfigMap[] | undefined;
}

/** The pods of a namespace, and what manages them. */
export async function readWorkloads(client: LockClient, namespace: string): Promise<Workloads> {
  const denials: Denial[] = [];
  const list = lister(client, namespace, denials);
  const kind = async (name: string, plural: string) =>
    (await list<Workload>("apps", plural))?.map((item) => ({ ...item, kind: name }));
  const [pods, ...kinds] = await Promise.all([
    list<Pod>("", "pods"),
    kind("Deployment", "deployments"),
    kind("StatefulSet", "statefulsets"),
    kind("DaemonSet", "daemonsets"),
  ]);
  const known = kinds.filter((items) => items !== undefined);
  return { pods, workloads: known.length === 0 ? undefined : known.flat(), denials };
}

/** @param electionLabel the label of objects that an election writes */
export async function takeSnapshot(
  client: LockClient,
  namespace: string,
  electionLabel: string,
): Promise<Snapshot> {
  const denials: Denial[] = [];
  const list = lister(client, namespace, denials);
  const [workloads, budgets, services, accounts, slices, configMaps] = await Promise.all([
    readWorkloads(client, namespace),
    list<Budget>("policy", "poddisruptionbudgets"),
    list<Service>("", "services"),
    list<ServiceAccount>("", "serviceaccounts"),
    list<Slice>("discovery.k8s.io", "endpointslices", electionLabel),
    list<ConfigMap>("", "configmaps", electionLabel),
  ]);
  return {
    ...workloads,
    budgets,
    services,
    accounts,
    slices,
    configMaps,
    // The answers come in any order.
    denials: [...workloads.denials, ...denials].sort((a, b) => (a.plural < b.plural ? -1 : 1)),
  };
}

function lister(client: LockClient, namespace: string, denials: Denial[]) {
  return async <T>(apiGroup: string, plural: string, labelSelector?: string): Promise<T[] | undefined> => {
    const root = apiGroup === "" ? "/api/v1" : `/apis/${apiGroup}/v1`;
    const path = `${root}/namespaces/${namespace}/${plural}`;
    try {
      return (await client.request<{ items: T[] }>({ method: "GET", path, query: { labelSelector } })).items;
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "Forbidden" && error.status !== 404)) throw error;
      // A server without this kind needs no report, because the user cannot change that.
      if (error.code === "Forbidden") denials.push({ apiGroup, plural });
      return undefined;
    }
  };
}
