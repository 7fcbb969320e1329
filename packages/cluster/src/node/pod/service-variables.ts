/** The variables that tell a container where services are: WEB_SERVICE_HOST, WEB_SERVICE_PORT and so on. */
import type { Service } from "../../client/objects.ts";

/** @param addressInPod the form of a cluster address that the pod can use */
export function serviceVariables(
  services: readonly Service[],
  namespace: string,
  addressInPod: (address: string) => string,
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { metadata, spec } of services) {
    const { clusterIP, ports = [] } = spec ?? {};
    if (metadata.namespace !== namespace || !clusterIP || clusterIP === "None") continue;
    const [first] = ports;
    if (!first) continue;
    const name = variableName(metadata.name);
    const host = addressInPod(clusterIP);
    variables[`${name}_SERVICE_HOST`] = host;
    variables[`${name}_SERVICE_PORT`] = String(first.port);
    for (const port of ports)
      if (port.name) variables[`${name}_SERVICE_PORT_${variableName(port.name)}`] = String(port.port);
    variables[`${name}_PORT`] = `${(first.protocol ?? "TCP").toLowerCase()}://${host}:${first.port}`;
    for (const { port, protocol = "TCP" } of ports) {
      const prefix = `${name}_PORT_${port}_${protocol}`;
      variables[prefix] = `${protocol.toLowerCase()}://${host}:${port}`;
      variables[`${prefix}_PROTO`] = protocol.toLowerCase();
      variables[`${prefix}_PORT`] = String(port);
      variables[`${prefix}_ADDR`] = host;
    }
  }
  return variables;
}

const variableName = (name: string) => name.toUpperCase().replaceAll("-", "_");
