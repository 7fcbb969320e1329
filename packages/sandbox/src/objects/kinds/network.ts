/**
 * Service, Endpoints and EndpointSlice. The API only stores them. Controllers fill in the endpoints, and a proxy connects to
 * them.
 */
import { isIP } from "node:net";
import {
  validateAddress,
  validateEndpointAddress,
  validatePortNumber,
  validateProtocol,
} from "../addresses.ts";
import { ageColumn, formatLabels, joined, type Kind, nameColumn, section } from "../kind.ts";
import { isDnsLabel, isDnsSubdomain } from "../name-rules.ts";
import { type ApiObject, equal, type JsonObject } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";

interface ServicePort extends JsonObject {
  name?: string;
  port?: number;
  protocol?: string;
  targetPort?: number | string;
  nodePort?: number;
}

interface ServiceSpec extends JsonObject {
  type?: string;
  clusterIP?: string;
  ports?: ServicePort[];
}

const serviceSpec = (object: ApiObject) => (object.spec ?? {}) as ServiceSpec;
const serviceTypes = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

export const service: Kind = {
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  singular: "service",
  shortNames: ["svc"],
  categories: ["all"],
  namespaced: true,
  type: "api.core.v1.Service",
  storage: "services/specs",
  name: isDnsLabel,
  createOnUpdate: true,
  status: true,
  selectable: {
    "spec.clusterIP": (object) => serviceSpec(object).clusterIP ?? "",
    "spec.type": (object) => serviceSpec(object).type ?? "",
  },
  columns: [
    nameColumn,
    { name: "Type", cell: (object) => serviceSpec(object).type },
    { name: "Cluster-IP", cell: (object) => serviceSpec(object).clusterIP || "<none>" },
    { name: "External-IP", cell: (object) => serviceSpec(object).externalName ?? "<none>" },
    {
      name: "Port(s)",
      cell: (object) =>
        joined(
          (serviceSpec(object).ports ?? []).map(
            ({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`,
          ),
        ),
    },
    ageColumn,
    { name: "Selector", priority: 1, cell: (object) => formatLabels(serviceSpec(object).selector) },
  ],
  defaults(object, old) {
    const spec: ServiceSpec = { sessionAffinity: "None", ...serviceSpec(object) };
    spec.type ||= "ClusterIP";
    if (spec.ports) spec.ports = spec.ports.map(defaultPort);
    if (spec.type !== "ExternalName") {
      const before = old ? serviceSpec(old).clusterIP : undefined;
      spec.clusterIP ||= before || addressOf(object);
      spec.clusterIPs = [spec.clusterIP];
      spec.internalTrafficPolicy ??= "Cluster";
      spec.ipFamilies ??= ["IPv4"];
      spec.ipFamilyPolicy ??= "SingleStack";
    }
    return { ...object, spec, status: { loadBalancer: {}, ...section(object, "status") } };
  },
  validate(object, old) {
    const spec = serviceSpec(object);
    const errors: FieldError[] = [];
    if (!spec.ports?.length && spec.type !== "ExternalName" && spec.clusterIP !== "None") {
      errors.push(field.required("spec.ports"));
    }
    const names = new Set<string>();
    for (const [index, { name, port }] of (spec.ports ?? []).entries()) {
      const path = `spec.ports[${index}]`;
      if ((spec.ports?.length ?? 0) > 1 && !name) errors.push(field.required(`${path}.name`));
      if (name && names.has(name)) errors.push(field.duplicate(`${path}.name`, name));
      if (name) names.add(name);
      if (!port || port < 1 || port > 65535) {
        errors.push(field.invalid(`${path}.port`, port ?? 0, "must be between 1 and 65535, inclusive"));
      }
    }
    if (!serviceTypes.includes(spec.type ?? ""))
      errors.push(field.notSupported("spec.type", spec.type, serviceTypes));
    const before = old ? serviceSpec(old).clusterIP : undefined;
    if (before && spec.type !== "ExternalName" && before !== spec.clusterIP) {
      errors.push(immutable("spec.clusterIP", spec.clusterIP));
    }
    return errors;
  },
};

function defaultPort(port: ServicePort): ServicePort {
  return { ...port, protocol: port.protocol || "TCP", targetPort: port.targetPort || (port.port ?? 0) };
}

/** Derives a cluster IP from the name, so that it is the same after a restart. Admission chooses another if it is in use. */
function addressOf(object: ApiObject): string {
  let hash = 0;
  for (const letter of `${object.metadata.namespace}/${object.metadata.name}`)
    hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return `10.96.${(hash >>> 8) % 256}.${(hash % 253) + 2}`;
}

interface EndpointAddress {
  ip: string;
  hostname?: string;
}

interface EndpointPort {
  name?: string;
  port: number;
  protocol?: string;
}

interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: EndpointPort[];
}

const dnsLabel = (path: string, value: string | undefined) =>
  value ? isDnsLabel(value).map((why) => field.invalid(path, value, why)) : [];

function validateSubset(subset: EndpointSubset, path: string): FieldError[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const errors: FieldError[] = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0)
    errors.push(field.required(path, "must specify `addresses` or `notReadyAddresses`"));
  for (const [name, list] of Object.entries({ addresses, notReadyAddresses })) {
    for (const [index, { ip, hostname }] of list.entries()) {
      const at = `${path}.${name}[${index}]`;
      errors.push(...validateAddress(`${at}.ip`, ip), ...dnsLabel(`${at}.hostname`, hostname));
      // Kubernetes reports an address that is none a second time.
      if (isIP(ip) === 0) errors.push(field.invalid(`${at}.ip`, ip, "must be a valid IP address"));
      else errors.push(...validateEndpointAddress(`${at}.ip`, ip));
    }
  }
  for (const [index, { name, port, protocol }] of ports.entries()) {
    const at = `${path}.ports[${index}]`;
    if (ports.length > 1 && !name) errors.push(field.required(`${at}.name`));
    errors.push(
      ...dnsLabel(`${at}.name`, name),
      ...validatePortNumber(`${at}.port`, port),
      ...validateProtocol(`${at}.protocol`, protocol),
    );
  }
  return errors;
}

/** kubectl shows the first three values and the number of the others. */
function shorten(values: string[]): string {
  if (values.length === 0) return "<none>";
  return values.length > 3
    ? `${values.slice(0, 3).join(",")} + ${values.length - 3} more...`
    : values.join(",");
}

export const endpoints: Kind = {
  group: "",
  version: "v1",
  kind: "Endpoints",
  plural: "endpoints",
  singular: "endpoints",
  shortNames: ["ep"],
  namespaced: true,
  type: "api.core.v1.Endpoints",
  storage: "services/endpoints",
  name: isDnsSubdomain,
  warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  createOnUpdate: true,
  defaults(object) {
    if (!object.subsets) return object;
    const withProtocol = (port: JsonObject) => ({ ...port, protocol: port.protocol ?? "TCP" });
    const subsets = (object.subsets as { ports?: JsonObject[] }[]).map((subset) =>
      subset.ports ? { ...subset, ports: subset.ports.map(withProtocol) } : subset,
    );
    return { ...object, subsets };
  },
  validate: (object, old) =>
    old && equal(object.subsets, old.subsets)
      ? []
      : ((object.subsets ?? []) as EndpointSubset[]).flatMap((subset, index) =>
          validateSubset(subset, `subsets[${index}]`),
        ),
  columns: [
    nameColumn,
    {
      name: "Endpoints",
      cell: (object) =>
        shorten(
          ((object.subsets ?? []) as EndpointSubset[]).flatMap(({ addresses = [], ports = [] }) =>
            ports.length > 0
              ? ports.flatMap(({ port }) =>
                  addresses.map(({ ip }) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)),
                )
              : addresses.map(({ ip }) => ip),
          ),
        ),
    },
    ageColumn,
  ],
};

const addressTypes = ["IPv4", "IPv6", "FQDN"];

export const endpointSlice: Kind = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  singular: "endpointslice",
  namespaced: true,
  type: "api.discovery.v1.EndpointSlice",
  storage: "endpointslices",
  name: isDnsSubdomain,
  generation: true,
  columns: [
    nameColumn,
    { name: "AddressType", cell: (object) => object.addressType },
    {
      name: "Ports",
      cell: (object) => {
        const ports = ((object.ports ?? []) as { port?: number }[]).map(({ port }) => String(port ?? "*"));
        return ports.length > 0 ? shorten(ports) : "<unset>";
      },
    },
    {
      name: "Endpoints",
      cell: (object) => {
        const list = ((object.endpoints ?? []) as { addresses: string[] }[]).flatMap(
          ({ addresses }) => addresses,
        );
        return list.length > 0 ? shorten(list) : "<unset>";
      },
    },
    ageColumn,
  ],
  defaults: (object) => ({
    ...object,
    endpoints: object.endpoints ?? [],
    ...(object.ports
      ? { ports: (object.ports as JsonObject[]).map((port) => ({ name: "", protocol: "TCP", ...port })) }
      : { ports: null }),
  }),
  validate(object, old) {
    const errors: FieldError[] = [];
    if (!object.addressType) errors.push(field.required("addressType"));
    else if (!addressTypes.includes(String(object.addressType))) {
      errors.push(field.notSupported("addressType", object.addressType, addressTypes));
    }
    errors.push(...validateSlicePorts((object.ports ?? []) as EndpointPort[]));
    // What an earlier version stored stays valid until somebody changes it.
    if (!old || !equal(object.endpoints, old.endpoints)) {
      for (const [index, endpoint] of ((object.endpoints ?? []) as SliceEndpoint[]).entries())
        errors.push(...validateSliceEndpoint(endpoint, String(object.addressType), `endpoints[${index}]`));
    }
    if (old && object.addressType !== old.addressType)
      errors.push(immutable("addressType", object.addressType));
    return errors;
  },
};

interface SliceEndpoint {
  addresses?: string[];
  hostname?: string;
  nodeName?: string;
}

function validateSlicePorts(ports: EndpointPort[]): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = "", protocol }, index) => {
    const path = `ports[${index}]`;
    const errors = [
      ...dnsLabel(`${path}.name`, name),
      ...(names.has(name) ? [field.duplicate(`${path}.name`, name)] : []),
      ...validateProtocol(`${path}.protocol`, protocol),
    ];
    names.add(name);
    return errors;
  });
}

function validateSliceEndpoint(endpoint: SliceEndpoint, addressType: string, path: string): FieldError[] {
  const { addresses = [], hostname, nodeName } = endpoint;
  const errors: FieldError[] = [];
  if (addresses.length === 0)
    errors.push(field.required(`${path}.addresses`, "must contain at least 1 address"));
  for (const [index, address] of addresses.entries())
    errors.push(...validateSliceAddress(address, addressType, `${path}.addresses`, index));
  if (nodeName)
    errors.push(...isDnsSubdomain(nodeName).map((why) => field.invalid(`${path}.nodeName`, nodeName, why)));
  return [...errors, ...dnsLabel(`${path}.hostname`, hostname)];
}

function validateSliceAddress(address: string, type: string, path: string, index: number): FieldError[] {
  const at = `${path}[${index}]`;
  if (type === "FQDN") {
    const why = "should be a domain with at least two segments separated by dots";
    return address.includes(".") ? [] : [field.invalid(at, address, why)];
  }
  const invalid = validateAddress(at, address);
  if (invalid.length > 0) return invalid;
  const wrongFamily = `IPv${isIP(address)}` !== type && (type === "IPv4" || type === "IPv6");
  return [
    ...(wrongFamily ? [field.invalid(path, address, `must be an ${type} address`)] : []),
    ...validateEndpointAddress(at, address),
  ];
}
