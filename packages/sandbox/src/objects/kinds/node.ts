/** Node. The API only stores it. A node agent writes its status. */
import { ageColumn, type Kind, nameColumn, section } from "../kind.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject } from "../object.ts";

interface NodeStatus {
  conditions?: { type: string; status: string }[];
  nodeInfo?: { kubeletVersion?: string };
  addresses?: { type: string; address: string }[];
}

const statusOf = (object: ApiObject) => section(object, "status") as NodeStatus;

const notReady = "node.kubernetes.io/not-ready";

export const node: Kind = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  singular: "node",
  shortNames: ["no"],
  namespaced: false,
  type: "api.core.v1.Node",
  storage: "minions",
  name: isDnsSubdomain,
  status: true,
  /** A new node is not ready, and takes no pods until a controller removes the taint. */
  defaults(object, old) {
    if (old) return object;
    const spec = section(object, "spec");
    const taints = (spec.taints ?? []) as { key?: string; effect?: string }[];
    const known = taints.some(({ key, effect }) => key === notReady && effect === "NoSchedule");
    if (known) return object;
    return { ...object, spec: { ...spec, taints: [...taints, { key: notReady, effect: "NoSchedule" }] } };
  },
  selectable: { "spec.unschedulable": (object) => String(section(object, "spec").unschedulable ?? false) },
  columns: [
    nameColumn,
    {
      name: "Status",
      cell: (object) => {
        const ready = statusOf(object).conditions?.find(({ type }) => type === "Ready")?.status;
        const status = ready === "True" ? "Ready" : ready === undefined ? "Unknown" : "NotReady";
        return section(object, "spec").unschedulable ? `${status},SchedulingDisabled` : status;
      },
    },
    {
      name: "Roles",
      cell: (object) => {
        const prefix = "node-role.kubernetes.io/";
        const roles = Object.keys(object.metadata.labels ?? {}).filter((label) => label.startsWith(prefix));
        return roles.length > 0
          ? roles
              .map((label) => label.slice(prefix.length))
              .sort()
              .join(",")
          : "<none>";
      },
    },
    ageColumn,
    { name: "Version", cell: (object) => statusOf(object).nodeInfo?.kubeletVersion ?? "" },
    {
      name: "Internal-IP",
      priority: 1,
      cell: (object) =>
        statusOf(object).addresses?.find(({ type }) => type === "InternalIP")?.address ?? "<none>",
    },
  ],
};
