/** Namespace. control/namespaces.ts deletes its content. */
import { ageColumn, type Kind, nameColumn, section } from "../kind.ts";
import { isDnsLabel } from "../name-rules.ts";

export const namespace: Kind = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  singular: "namespace",
  shortNames: ["ns"],
  namespaced: false,
  type: "api.core.v1.Namespace",
  storage: "namespaces",
  name: isDnsLabel,
  status: true,
  selectable: { "status.phase": (object) => String(section(object, "status").phase ?? "") },
  columns: [nameColumn, { name: "Status", cell: (object) => section(object, "status").phase }, ageColumn],
  defaults(object, old) {
    const labels = {
      ...object.metadata.labels,
      "kubernetes.io/metadata.name": object.metadata.name as string,
    };
    const named = { ...object, metadata: { ...object.metadata, labels } };
    if (old) return { ...named, spec: old.spec };
    return { ...named, spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
  },
};
