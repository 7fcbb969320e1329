/** The objects around elections as tables: nodes, pods, Services, events. What the user may not list is left out. */
import { KubeError } from "@tenure/kube";
import type { ClusterView } from "@tenure/ui";
import type { LockClient } from "../../elections/find.ts";
import { type FaultChoice, faultsIn } from "./faults.ts";

interface KubeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly deletionTimestamp?: string;
  };
}
interface Node extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}
interface Pod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
interface Service extends KubeObject {
  readonly spec?: { readonly clusterIP?: string };
}
interface Slice extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}
interface Event extends KubeObject {
  readonly reason?: string;
  readonly message?: string;
  readonly note?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

export const emptyCluster: ClusterView = { tables: [], faults: [], active: [] };

const mostRows = 100;
const mostEvents = 30;

/** @param namespace undefined for all namespaces */
export async function readCluster(client: LockClient, namespace: string | undefined): Promise<ClusterView> {
  const list = async <T>(root: string, plural: string, isNamespaced = true): Promise<readonly T[]> => {
    const where = isNamespaced && namespace !== undefined ? `/namespaces/${namespace}` : "";
    try {
      return (await client.request<{ items: T[] }>({ method: "GET", path: `${root}${where}/${plural}` }))
        .items;
    } catch (error) {
      if (error instanceof KubeError && (error.code === "Forbidden" || error.status === 404)) return [];
      throw error;
    }
  };
  const [nodes, pods, services, slices, events, sandbox] = await Promise.all([
    list<Node>("/api/v1", "nodes", false),
    list<Pod>("/api/v1", "pods"),
    list<Service>("/api/v1", "services"),
    list<Slice>("/apis/discovery.k8s.io/v1", "endpointslices"),
    list<Event>("/api/v1", "events"),
    faultsIn(client),
  ]);
  const tables = [
    { title: "Nodes", columns: ["Name", "Ready"], rows: nodes.map(nodeRow) },
    { title: "Pods", columns: ["Name", "Phase", "Ready", "Node"], rows: pods.map(podRow) },
    {
      title: "Services",
      columns: ["Name", "Address", "Ready endpoints"],
      rows: services.map((service) => serviceRow(service, slices)),
    },
    { title: "Events", columns: ["Time", "Object", "What"], rows: newest(events).map(eventRow) },
  ];
  return {
    tables: tables
      .filter(({ rows }) => rows.length > 0)
      .map((table) => ({ ...table, rows: table.rows.slice(0, mostRows) })),
    faults: sandbox ? [...sandbox.faults, ...podFaults(pods)] : [],
    active: sandbox?.active ?? [],
  };
}

function podFaults(pods: readonly Pod[]): FaultChoice[] {
  const targets = pods.map(titleOf).slice(0, mostEvents);
  if (targets.length === 0) return [];
  return [
    {
      id: "delete-pod",
      label: "Delete pod",
      text: "The pod is deleted. Its processes get SIGTERM, and its controller makes another pod.",
      targets,
    },
  ];
}

const titleOf = ({ metadata: { namespace, name } }: KubeObject) =>
  namespace === undefined ? name : `${namespace}/${name}`;

const isReady = (conditions: readonly { readonly type: string; readonly status: string }[] = []) =>
  conditions.some(({ type, status }) => type === "Ready" && status === "True") ? "yes" : "no";

const nodeRow = (node: Node) => [titleOf(node), isReady(node.status?.conditions)];

function podRow(pod: Pod): string[] {
  const phase =
    pod.metadata.deletionTimestamp === undefined ? (pod.status?.phase ?? "Unknown") : "Terminating";
  return [titleOf(pod), phase, isReady(pod.status?.conditions), pod.spec?.nodeName ?? ""];
}

function serviceRow(service: Service, slices: readonly Slice[]): string[] {
  const { name, namespace } = service.metadata;
  const ready = slices
    .filter(
      ({ metadata }) =>
        metadata.namespace === namespace && metadata.labels?.["kubernetes.io/service-name"] === name,
    )
    .flatMap(({ endpoints = [] }) => endpoints)
    .filter(({ conditions }) => conditions?.ready !== false).length;
  return [titleOf(service), service.spec?.clusterIP ?? "", String(ready)];
}

const timeOf = ({ lastTimestamp, eventTime }: Event) => lastTimestamp ?? eventTime ?? "";

function newest(events: readonly Event[]): Event[] {
  return [...events].sort((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(0, mostEvents);
}

function eventRow(event: Event): string[] {
  const { involvedObject, reason = "", message, note } = event;
  const object = involvedObject ? `${involvedObject.kind} ${involvedObject.name}` : "";
  return [timeOf(event).slice(11, 19), object, `${reason}: ${message ?? note ?? ""}`];
}
