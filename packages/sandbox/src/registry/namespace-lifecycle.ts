/** Nothing is created in a namespace that is not there or is going away, and the first namespaces stay. */

import { keyOf } from "../objects/kind.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import type { ApiObject } from "../objects/object.ts";
import { ApiError, forbidden, notFound, qualified } from "../objects/status.ts";
import type { Admission } from "./admission.ts";

export const firstNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

export function checkNamespace({ cluster, kind }: Admission, object: ApiObject): void {
  if (!kind.namespaced) return;
  const name = object.metadata.namespace ?? "";
  const found = cluster.store.get(keyOf(namespace, "", name));
  if (!found) throw notFound({ group: "", resource: "namespaces", name });
  if (!found.value.metadata.deletionTimestamp) return;
  const subject = { group: kind.group, resource: kind.plural };
  throw new ApiError(
    403,
    "Forbidden",
    `${qualified(subject)} "${object.metadata.name}" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    {
      ...(object.metadata.name ? { name: object.metadata.name } : {}),
      ...(kind.group ? { group: kind.group } : {}),
      kind: kind.plural,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${name} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  );
}

export function checkNamespaceDeletion({ kind }: Admission, name: string): void {
  if (kind !== namespace || !["default", "kube-system", "kube-public"].includes(name)) return;
  throw forbidden({ group: "", resource: "namespaces", name }, "this namespace may not be deleted");
}
