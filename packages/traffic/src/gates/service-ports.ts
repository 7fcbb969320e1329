/** Derives the ports of a slice from the ports of its Service. kube-proxy matches them by name. */
import { TrafficError } from "../errors.ts";

export interface ServiceSpec {
  readonly type?: string;
  readonly selector?: Readonly<Record<string, string>> | null;
  readonly ports?: readonly {
    readonly name?: string;
    readonly port: number;
    readonly protocol?: string;
    readonly targetPort?: number | string;
    readonly appProtocol?: string;
  }[];
}

export interface SlicePort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

/** Port numbers of the pod, by the name of the Service port (by its number if it has no name). A single number is for a Service with one port. */
export type GivenPorts = number | Readonly<Record<string, number>>;

export function portsFrom(spec: ServiceSpec, ports: GivenPorts = {}, what: string): SlicePort[] {
  const problems: string[] = [];
  const given = typeof ports === "number" ? forOnlyPort(spec, ports, problems) : ports;
  const known = new Set<string>();
  const found = (spec.ports ?? []).map(({ name = "", port, protocol = "TCP", targetPort, appProtocol }) => {
    const key = name || String(port);
    known.add(key);
    const target = given[key] ?? targetPort ?? port;
    if (typeof target !== "number") {
      problems.push(
        `port ${key} targets the named container port ${JSON.stringify(target)}; give its number as ${key}=NUMBER`,
      );
    }
    return { name, port: Number(target), protocol, ...(appProtocol && { appProtocol }) };
  });
  for (const key of Object.keys(given)) {
    if (!known.has(key))
      problems.push(`it has no port ${JSON.stringify(key)}, only ${[...known].join(", ") || "none"}`);
  }
  if (problems.length > 0)
    throw new TrafficError(
      "InvalidOptions",
      `Cannot derive the ports of the leader from the ${what}: ${problems.join("; ")}.`,
    );
  return found;
}

function forOnlyPort({ ports = [] }: ServiceSpec, port: number, problems: string[]): Record<string, number> {
  const [only, ...more] = ports;
  if (only && more.length === 0) return { [only.name || String(only.port)]: port };
  problems.push(
    `it has ${ports.length} ports, so ${port} alone is ambiguous; give NAME=${port} for the port that it belongs to`,
  );
  return {};
}
