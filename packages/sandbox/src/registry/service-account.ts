/** A pod runs as a ServiceAccount, which has to be there. */

import { keyOf, section } from "../objects/kind.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import { pod } from "../objects/kinds/pod.ts";
import type { ApiObject } from "../objects/object.ts";
import { forbidden } from "../objects/status.ts";
import type { Admission } from "./admission.ts";

export function checkServiceAccount({ cluster, kind }: Admission, object: ApiObject): void {
  if (kind !== pod) return;
  const { namespace = "", name = "" } = object.metadata;
  const account = String(section(object, "spec").serviceAccountName);
  if (cluster.store.get(keyOf(serviceAccount, namespace, account))) return;
  const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw forbidden({ group: "", resource: "pods", name }, why);
}
