/** Node. It is only stored, for users who run their own node agent. */
import { ageColumn, type Kind, nameColumn, section } from "../kind.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject } from "../object.ts";

interface NodeStatus {
  conditions?: { type: string; status: string }[];
  nodeInfo?: { kubeletVersion?: string };
  addresses?: { type: string; address: string }[];
}

const statusOf = (object: ApiObject) => section(object, "status") as NodeStatus;

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
