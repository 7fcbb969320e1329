/** The names of services, as lines of /etc/hosts. A pod finds the services of its own namespace by their short names. */
import type { EndpointSlice } from "../client/endpoint-objects.ts";
import type { Service } from "../client/objects.ts";
import { isSliceOf } from "./plan.ts";

const domain = "cluster.local";

/** @param addressInPod the form of a cluster address that the pod can use */
export function hostLines(
  namespace: string,
  services: readonly Service[],
  slices: readonly EndpointSlice[],
  addressInPod: (address: string) => string,
): string[] {
  return services.flatMap((service) => {
    const { metadata, spec } = service;
    const full = `${metadata.name}.${metadata.namespace}.svc.${domain}`;
    const short = metadata.namespace === namespace ? [metadata.name] : [];
    const names = [
      full,
      `${metadata.name}.${metadata.namespace}.svc`,
      `${metadata.name}.${metadata.namespace}`,
      ...short,
    ];
    const line = (address: string, hosts: readonly string[]) =>
      `${addressInPod(address)}\t${hosts.join("\t")}`;
    if (spec?.clusterIP && spec.clusterIP !== "None") return [line(spec.clusterIP, names)];
    // Without an address of its own, the name stands for the pods.
    return slices
      .filter((slice) => isSliceOf(slice, service))
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => (conditions?.ready ?? true) || spec?.publishNotReadyAddresses === true)
      .flatMap(({ addresses, hostname }) => {
        const own = hostname ? names.map((name) => `${hostname}.${name}`) : [];
        return addresses.slice(0, 1).map((address) => line(address, [...own, ...names]));
      });
  });
}
