/** What stands around the elections of a namespace: pods, workloads, budgets, slices. What may not be read is left undefined. */
import { type KubeClient, KubeError } from "@tenure/kube";
import type { PodSpec, Workload } from "./workload.ts";

export interface Labelled {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
}

export interface Pod extends Labelled {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly containerStatuses?: readonly {
      readonly state?: { readonly waiting?: { readonly reason?: string } };
    }[];
  };
}

export interface Budget extends Labelled {
  readonly spec?: { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } };
}

export interface Slice extends Labelled {
  readonly endpoints?: readonly {
    readonly addresses?: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly kind?: string; readonly name?: string };
  }[];
}

export interface ConfigMap extends Labelled {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Snapshot {
  readonly pods: readonly Pod[] | undefined;
  readonly workloads: readonly Workload[] | undefined;
  readonly budgets: readonly Budget[] | undefined;
  readonly slices: readonly Slice[] | undefined;
  /** Those that an election publishes its leader in. */
  readonly configMaps: readonly ConfigMap[] | undefined;
  /** What was refused, a sentence each. */
  readonly refusals: readonly string[];
}

/** @param electionLabel what marks the objects that an election writes */
export async function takeSnapshot(
  client: KubeClient,
  namespace: string,
  electionLabel: string,
): Promise<Snapshot> {
  const refusals: string[] = [];
  const list = async <T>(root: string, plural: string, labelSelector?: string): Promise<T[] | undefined> => {
    try {
      const path = `${root}/namespaces/${namespace}/${plural}`;
      return (await client.request<{ items: T[] }>({ method: "GET", path, query: { labelSelector } })).items;
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "Forbidden" && error.code !== "NotFound"))
        throw error;
      // A server without this kind is nothing that somebody could mend.
      if (error.code === "Forbidden") refusals.push(`may not list ${plural} in namespace "${namespace}"`);
      return undefined;
    }
  };
  const marked = <T extends object>(kind: string, items: T[] | undefined) =>
    items?.map((item) => ({ ...item, kind }));
  const [pods, deployments, statefulSets, budgets, slices, configMaps] = await Promise.all([
    list<Pod>("/api/v1", "pods"),
    list<Workload>("/apis/apps/v1", "deployments"),
    list<Workload>("/apis/apps/v1", "statefulsets"),
    list<Budget>("/apis/policy/v1", "poddisruptionbudgets"),
    list<Slice>("/apis/discovery.k8s.io/v1", "endpointslices", electionLabel),
    list<ConfigMap>("/api/v1", "configmaps", electionLabel),
  ]);
  const workloads =
    deployments === undefined && statefulSets === undefined
      ? undefined
      : [...(marked("Deployment", deployments) ?? []), ...(marked("StatefulSet", statefulSets) ?? [])];
  return { pods, workloads, budgets, slices, configMaps, refusals };
}

/** The pod that an identity names, if it lives. client-go appends an underscore and a number to it. */
export function podOf(pods: readonly Pod[], identity: string): Pod | undefined {
  return pods
    .filter(isAlive)
    .find(({ metadata: { name } }) => identity === name || identity.startsWith(`${name}_`));
}

export function isAlive({ status }: Pod): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

export function selects(
  labels: Readonly<Record<string, string>> | undefined,
  selector: Readonly<Record<string, string>> | undefined,
): boolean {
  const wanted = Object.entries(selector ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels?.[key] === value);
}
