/** Admission: fills in defaults, and rejects writes that the state of the cluster does not allow. Reads skip it. */
import { checkRoleEscalation } from "../access/role-escalation.ts";
import type { User } from "../access/user.ts";
import { type Kind, keyOf, section } from "../objects/kind.ts";
import { certificateSigningRequest } from "../objects/kinds/cluster.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { service } from "../objects/kinds/network.ts";
import { pod } from "../objects/kinds/pod.ts";
import type { ApiObject } from "../objects/object.ts";
import { ApiError, forbidden, notFound, qualified } from "../objects/status.ts";
import type { Store } from "../store/store.ts";
import type { KindContext } from "./context.ts";
import { admitPod } from "./pod-admission.ts";
import { admitService } from "./service-admission.ts";

/** `old` is undefined on create. Returns the object with its defaults, or throws. */
export function admit(
  { cluster, user, kind, info }: KindContext,
  object: ApiObject,
  old: ApiObject | undefined,
): ApiObject {
  const { store, authorizer } = cluster;
  if (!old) checkNamespace(store, kind, object);
  // The server sets a label of every namespace, even if a write to the status omits it.
  if (info.subresource !== "") return kind === namespace ? (kind.defaults?.(object, old) ?? object) : object;
  const complete = kind.defaults?.(object, old) ?? object;
  if (kind === certificateSigningRequest) return withRequester(complete, old, user);
  if (!old && kind === pod) return admitPod(cluster, complete);
  if (kind === service) return admitService(store, complete, object, old);
  checkRoleEscalation({ store, authorizer, user, kind }, complete, old);
  return complete;
}

/** A certificate request names the user who sent it. Nobody can change what it requests. */
function withRequester(object: ApiObject, old: ApiObject | undefined, user: User): ApiObject {
  if (old) return { ...object, spec: old.spec };
  const { name: username, uid, groups, extra } = user;
  const who = { username, ...(uid ? { uid } : {}), groups, ...(extra ? { extra } : {}) };
  return { ...object, spec: { ...section(object, "spec"), ...who } };
}

/** Objects are created only in a namespace that exists and is not being deleted. */
function checkNamespace(store: Store, kind: Kind, object: ApiObject): void {
  if (!kind.namespaced) return;
  const name = object.metadata.namespace ?? "";
  const found = store.get(keyOf(namespace, "", name));
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

const undeletableNamespaces = ["default", "kube-system", "kube-public"];

export function checkDeletion(kind: Kind, name: string): void {
  if (kind !== namespace || !undeletableNamespaces.includes(name)) return;
  throw forbidden({ group: "", resource: "namespaces", name }, "this namespace may not be deleted");
}
