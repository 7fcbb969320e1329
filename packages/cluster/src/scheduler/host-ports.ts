/** Ports of the node itself that pods use. */
import type { Pod } from "../client/objects.ts";

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const everyAddress = "0.0.0.0";

function hostPortsOf({ spec }: Pod): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort }) => (hostPort ?? 0) > 0)
    .map(({ hostPort = 0, hostIP, protocol = "TCP" }) => ({
      ip: hostIP || everyAddress,
      protocol,
      port: hostPort,
    }));
}

/** Whether the pod wants a port that another pod on the node uses. */
export function hasPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const used = others.flatMap(hostPortsOf);
  return wanted.some((a) =>
    used.some(
      (b) =>
        a.port === b.port &&
        a.protocol === b.protocol &&
        (a.ip === b.ip || a.ip === everyAddress || b.ip === everyAddress),
    ),
  );
}
