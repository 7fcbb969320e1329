/** The TCP ports of a pod that its manifest mentions. */
import type { Handler, NodeContainer, NodePod, Probe } from "../pod.ts";
import { portNumber } from "./probe-check.ts";

export function portsOf({ spec }: NodePod): number[] {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  return [...new Set(containers.flatMap(portsOfContainer))];
}

function portsOfContainer(container: NodeContainer): number[] {
  const declared = (container.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
  const { readinessProbe, livenessProbe, startupProbe, lifecycle } = container;
  const handlers = [readinessProbe, livenessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
  const mentioned = handlers.flatMap((handler) => (handler ? portOfHandler(handler, container) : []));
  return [...declared.map(({ containerPort }) => containerPort), ...mentioned];
}

function portOfHandler(handler: Handler | Probe, container: NodeContainer): number[] {
  const port =
    handler.httpGet?.port ?? handler.tcpSocket?.port ?? ("grpc" in handler ? handler.grpc?.port : undefined);
  if (port === undefined) return [];
  try {
    return [portNumber(port, container)];
  } catch {
    // The probe itself reports a port without a number.
    return [];
  }
}
