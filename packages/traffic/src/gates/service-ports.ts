/** The ports of a slice from those of its Service: kube-proxy finds the one by the name of the other. */
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

/** Ports of the pod: by the name of the Service's port (its number, if it has no name), or the one of its only port. */
export type GivenPorts = number | Readonly<Record<string, number>>;

export function portsFrom(spec: ServiceSpec, ports: GivenPorts = {}, what: string): SlicePort[] {
  const problems: string[] = [];
  const given = typeof ports === "number" ? ofOnlyPort(spec, ports, problems) : ports;
  const known = new Set<string>();
  const found = (spec.ports ?? []).map(({ name = "", port, protocol = "TCP", targetPort, appProtocol }) => {
    const key = name || String(port);
    known.add(key);
    const target = given[key] ?? targetPort ?? port;
    if (typeof target !== "number") {
      problems.push(
        `its port ${key} goes to the container port named ${JSON.stringify(target)}: give the number, ${key}=NUMBER`,
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
      `Cannot tell the ports of the leader from the ${what}: ${problems.join("; ")}.`,
    );
  return found;
}

function ofOnlyPort({ ports = [] }: ServiceSpec, port: number, problems: string[]): Record<string, number> {
  const [only, ...more] = ports;
  if (only && more.length === 0) return { [only.name || String(only.port)]: port };
  problems.push(
    `it has ${ports.length} ports, so that ${port} alone does not say for which: give NAME=${port} for each that needs it`,
  );
  return {};
}
