/** NetworkPolicy, Ingress, and the addresses of services. Nothing enforces a policy or serves an Ingress. */
import { formatLabels, type Kind, section } from "../kind.ts";
import { isPathSegment } from "../name-rules.ts";
import { type ApiObject, at, type JsonObject } from "../object.ts";
import { field } from "../status.ts";
import { immutable } from "../validate.ts";
import { declare, fieldColumn, withColumns } from "./declare.ts";

const group = "networking.k8s.io";

export const networkPolicy: Kind = declare({
  group,
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  shortNames: ["netpol"],
  generation: true,
  columns: withColumns({
    name: "Pod-Selector",
    cell: (object) => formatLabels(at(object, "spec", "podSelector", "matchLabels")),
  }),
  defaults(object) {
    const spec = section(object, "spec");
    const policyTypes = spec.policyTypes ?? ["Ingress", ...(spec.egress ? ["Egress"] : [])];
    const out: JsonObject = { ...spec, podSelector: spec.podSelector ?? {}, policyTypes };
    for (const direction of ["ingress", "egress"]) {
      if (spec[direction]) out[direction] = (spec[direction] as { ports?: JsonObject[] }[]).map(withProtocol);
    }
    return { ...object, spec: out };
  },
});

const withProtocol = (rule: { ports?: JsonObject[] }) =>
  rule.ports ? { ...rule, ports: rule.ports.map((port) => ({ protocol: "TCP", ...port })) } : rule;

interface IngressRule {
  host?: string;
}

export const ingress: Kind = declare({
  group,
  kind: "Ingress",
  storage: "ingress",
  shortNames: ["ing"],
  status: true,
  generation: true,
  columns: withColumns(
    fieldColumn("Class", "spec.ingressClassName"),
    {
      name: "Hosts",
      cell: (object) => {
        const rules = (section(object, "spec").rules ?? []) as IngressRule[];
        return rules.map(({ host }) => host || "*").join(",") || "*";
      },
    },
    {
      name: "Address",
      cell: (object) =>
        ((at(object, "status", "loadBalancer", "ingress") ?? []) as Record<string, string>[])
          .map(({ ip, hostname }) => ip ?? hostname)
          .join(","),
    },
    { name: "Ports", cell: (object) => (section(object, "spec").tls ? "80, 443" : "80") },
  ),
  defaults: (object) => ({ ...object, status: { loadBalancer: {}, ...section(object, "status") } }),
});

export const ingressClass: Kind = declare({
  group,
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
  generation: true,
  columns: withColumns(
    fieldColumn("Controller", "spec.controller"),
    fieldColumn("Parameters", "spec.parameters.name"),
  ),
});

export const ipAddress: Kind = declare({
  group,
  kind: "IPAddress",
  shortNames: ["ip"],
  namespaced: false,
  name: isPathSegment,
  columns: withColumns({
    name: "ParentRef",
    cell: (object) => {
      const { resource, namespace, name } = parentOf(object);
      return [resource, namespace, name].filter(Boolean).join("/");
    },
  }),
  selectable: {
    "spec.parentRef.name": (object) => parentOf(object).name ?? "",
    "spec.parentRef.namespace": (object) => parentOf(object).namespace ?? "",
    "spec.parentRef.resource": (object) => parentOf(object).resource ?? "",
  },
});

const parentOf = (object: ApiObject) =>
  (section(object, "spec").parentRef ?? {}) as { resource?: string; namespace?: string; name?: string };

export const serviceCidr: Kind = declare({
  group,
  kind: "ServiceCIDR",
  namespaced: false,
  status: true,
  statusKeeps: ["metadata"],
  columns: withColumns({
    name: "CIDRs",
    cell: (object) => ((section(object, "spec").cidrs ?? []) as string[]).join(","),
  }),
  validate(object, old) {
    const { cidrs } = section(object, "spec");
    if (!(cidrs as unknown[] | undefined)?.length)
      return [field.required("spec.cidrs", "at least one CIDR required")];
    if (old && JSON.stringify(section(old, "spec").cidrs) !== JSON.stringify(cidrs))
      return [immutable("spec.cidrs", cidrs)];
    return [];
  },
});
