/** The objects around the elections of a namespace: pods, workloads, budgets, slices. Undefined if access is denied. */
import { KubeError } from "@tenure/kube";
import type { LockClient } from "../../elections/find.ts";
import type { Labelled, PodSpec, Workload } from "./workload.ts";

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

interface Budget extends Labelled {
  readonly spec?: { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } };
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

export interface Snapshot {
  readonly pods: readonly Pod[] | undefined;
  readonly workloads: readonly Workload[] | undefined;
  readonly budgets: readonly Budget[] | undefined;
  readonly slices: readonly Slice[] | undefined;
  /** Those in which an election publishes its leader. */
  readonly configMaps: readonly ConfigMap[] | undefined;
  /** What the user may not list. */
  readonly denials: readonly string[];
}

/** @param electionLabel the label of objects that an election writes */
export async function takeSnapshot(
  client: LockClient,
  namespace: string,
  electionLabel: string,
): Promise<Snapshot> {
  const denials: string[] = [];
  const list = async <T>(root: string, plural: string, labelSelector?: string): Promise<T[] | undefined> => {
    try {
      const path = `${root}/namespaces/${namespace}/${plural}`;
      return (await client.request<{ items: T[] }>({ method: "GET", path, query: { labelSelector } })).items;
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "Forbidden" && error.status !== 404)) throw error;
      // A server without this kind needs no report, because the user cannot change that.
      if (error.code === "Forbidden") denials.push(`no right to list ${plural} in namespace "${namespace}"`);
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
  return { pods, workloads, budgets, slices, configMaps, denials };
}

/** The live pod with this identity. client-go appends an underscore and a number to the pod name. */
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
