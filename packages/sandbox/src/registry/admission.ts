/** Third step of a write: may this object come in, and what has to be filled in? Not for reads. */

import { checkEscalation } from "../access/role-escalation.ts";
import type { User } from "../access/user.ts";
import type { Cluster } from "../control/cluster.ts";
import type { Kind } from "../objects/kind.ts";
import type { ApiObject } from "../objects/object.ts";
import { checkNamespace } from "./namespace-lifecycle.ts";
import { checkServiceAccount } from "./service-account.ts";

export interface Admission {
  cluster: Cluster;
  user: User;
  kind: Kind;
  subresource: string;
}

/** `old` is absent on create. Returns the object with its defaults; throws where it may not come in. */
export function admit(admission: Admission, object: ApiObject, old: ApiObject | undefined): ApiObject {
  if (!old) checkNamespace(admission, object);
  if (admission.subresource !== "") return object;
  const complete = admission.kind.defaults?.(object, old) ?? object;
  if (!old) checkServiceAccount(admission, complete);
  checkEscalation(admission, complete, old);
  return complete;
}
