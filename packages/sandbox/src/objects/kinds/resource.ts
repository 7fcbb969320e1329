/** Kinds of dynamic resource allocation, and the limits of namespaces. Nothing allocates or enforces. */
import { type Kind, section } from "../kind.ts";
import type { JsonObject } from "../object.ts";
import { declare, fieldColumn, withColumns } from "./declare.ts";

const group = "resource.k8s.io";

interface ClaimSpec extends JsonObject {
  devices?: { requests?: { exactly?: JsonObject; firstAvailable?: JsonObject[] }[] };
}

/** A request asks for one device unless it says otherwise. */
function defaultClaim(spec: ClaimSpec): ClaimSpec {
  const { devices } = spec;
  if (!devices?.requests) return spec;
  const one = (request: JsonObject) => {
    const mode = request.allocationMode || "ExactCount";
    return {
      ...request,
      allocationMode: mode,
      ...(mode === "ExactCount" ? { count: request.count || 1 } : {}),
    };
  };
  const requests = devices.requests.map((request) => ({
    ...request,
    ...(request.exactly ? { exactly: one(request.exactly) } : {}),
    ...(request.firstAvailable ? { firstAvailable: request.firstAvailable.map(one) } : {}),
  }));
  return { ...spec, devices: { ...devices, requests } };
}

export const resourceClaim: Kind = declare({
  group,
  kind: "ResourceClaim",
  defaults: (object) => ({ ...object, spec: defaultClaim(section(object, "spec") as ClaimSpec) }),
  status: true,
  statusKeeps: ["metadata"],
  columns: withColumns({
    name: "State",
    cell: ({ metadata, status }) => {
      const { allocation, reservedFor } = (status ?? {}) as Record<string, unknown>;
      const states = [
        metadata.deletionTimestamp ? "deleted" : "",
        allocation ? "allocated" : "",
        reservedFor ? "reserved" : "",
      ].filter(Boolean);
      return states.join(",") || "pending";
    },
  }),
});

export const resourceClaimTemplate: Kind = declare({
  group,
  kind: "ResourceClaimTemplate",
  defaults(object) {
    const outer = section(object, "spec") as { spec?: ClaimSpec };
    return { ...object, spec: { ...outer, spec: defaultClaim(outer.spec ?? {}) } };
  },
});

export const resourceSlice: Kind = declare({
  group,
  kind: "ResourceSlice",
  namespaced: false,
  generation: true,
  selectable: {
    "spec.nodeName": (object) => text(object.spec, "nodeName"),
    "spec.driver": (object) => text(object.spec, "driver"),
  },
  columns: withColumns(
    fieldColumn("Node", "spec.nodeName", "<unset>"),
    fieldColumn("Driver", "spec.driver"),
    fieldColumn("Pool", "spec.pool.name"),
  ),
});

const text = (section: unknown, name: string) =>
  String((section as Record<string, unknown> | undefined)?.[name] ?? "");

export const deviceClass: Kind = declare({
  group,
  kind: "DeviceClass",
  namespaced: false,
  generation: true,
});

export const resourceQuota: Kind = declare({
  group: "",
  kind: "ResourceQuota",
  shortNames: ["quota"],
  status: true,
});

export const limitRange: Kind = declare({
  group: "",
  kind: "LimitRange",
  shortNames: ["limits"],
  createOnUpdate: true,
  defaults(object) {
    const spec = section(object, "spec") as { limits?: Limit[] };
    return { ...object, spec: { ...spec, limits: (spec.limits ?? []).map(defaultLimit) } };
  },
});

interface Limit extends JsonObject {
  type?: string;
  default?: JsonObject;
  defaultRequest?: JsonObject;
  max?: JsonObject;
  min?: JsonObject;
}

/** A container gets its maximum by default, and requests its default limit, or else the minimum. */
function defaultLimit(limit: Limit): Limit {
  if (limit.type !== "Container") return limit;
  const limits = { ...limit.max, ...limit.default };
  const requests = { ...limit.min, ...limits, ...limit.defaultRequest };
  return {
    ...limit,
    ...(Object.keys(limits).length > 0 ? { default: limits } : {}),
    ...(Object.keys(requests).length > 0 ? { defaultRequest: requests } : {}),
  };
}
