/**
 * What the service proxy listens on, and where it sends connections: decided from Services and EndpointSlices alone. Only ready
 * endpoints get connections. If all endpoints of a service are terminating, those that still serve get them, as in kube-proxy.
 */
import type { Endpoint, EndpointSlice } from "../client/endpoint-objects.ts";
import type { Service, ServicePort } from "../client/objects.ts";
import { loopbackTwin } from "../node/addresses.ts";

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface Listener {
  /** Where to listen. */
  readonly host: string;
  readonly port: number;
  /** The service port, as people know it: default/web:80. */
  readonly name: string;
  readonly service: Service;
  readonly targets: readonly Target[];
  /** A client keeps its target for this long. Undefined: every connection may get another. */
  readonly affinityMs: number | undefined;
}

interface PlanInput {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  /** Where the API server really is. The service default/kubernetes stands for it. */
  readonly apiServer: Target;
  /** The address for node ports. */
  readonly nodeAddress: string;
}

const defaultAffinitySeconds = 10_800;

/** By `host:port`. Two services never share an address, so the first one wins. */
export function planListeners(input: PlanInput): Map<string, Listener> {
  const listeners = new Map<string, Listener>();
  for (const service of input.services) {
    const { clusterIP, ports = [], type } = service.spec ?? {};
    if (type === "ExternalName") continue;
    for (const port of ports) {
      if ((port.protocol ?? "TCP") !== "TCP") continue;
      const common = {
        name: `${service.metadata.namespace}/${service.metadata.name}:${port.port}`,
        service,
        targets: targetsOf(service, port, input),
        affinityMs: affinityOf(service),
      };
      const places: Target[] = [];
      if (clusterIP && clusterIP !== "None") places.push({ host: loopbackTwin(clusterIP), port: port.port });
      if (port.nodePort) places.push({ host: input.nodeAddress, port: port.nodePort });
      for (const place of places) {
        const key = `${place.host}:${place.port}`;
        if (!listeners.has(key)) listeners.set(key, { ...place, ...common });
      }
    }
  }
  return listeners;
}

function affinityOf({ spec }: Service): number | undefined {
  if (spec?.sessionAffinity !== "ClientIP") return undefined;
  const { sessionAffinityConfig } = spec as {
    sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  };
  return (sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds) * 1000;
}

function targetsOf(service: Service, port: ServicePort, { slices, apiServer }: PlanInput): Target[] {
  const { namespace, name } = service.metadata;
  const own = slices.filter((slice) => isSliceOf(slice, service));
  const all = own.flatMap(({ endpoints, ports }) => {
    const found = (ports ?? []).find((candidate) => (candidate.name ?? "") === (port.name ?? ""));
    if (found?.port === undefined) return [];
    return (endpoints ?? []).map((endpoint) => ({ endpoint, port: found.port as number }));
  });
  const ready = all.filter(({ endpoint }) => endpoint.conditions?.ready ?? true);
  const chosen = ready.length > 0 ? ready : all.filter(({ endpoint }) => isServingWhileEnding(endpoint));
  if (chosen.length === 0 && namespace === "default" && name === "kubernetes") return [apiServer];
  return chosen.flatMap(({ endpoint, port: number }) =>
    endpoint.addresses.slice(0, 1).map((address) => ({ host: loopbackTwin(address), port: number })),
  );
}

export function isSliceOf({ metadata }: EndpointSlice, service: Service): boolean {
  return (
    metadata.namespace === service.metadata.namespace &&
    metadata.labels?.["kubernetes.io/service-name"] === service.metadata.name
  );
}

const isServingWhileEnding = ({ conditions }: Endpoint) =>
  conditions?.terminating === true && conditions.serving === true;
