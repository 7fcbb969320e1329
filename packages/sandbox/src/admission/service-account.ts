/** A pod runs as a ServiceAccount, which has to be there. */
import type { ApiObject } from "../api/object.ts";
import { forbidden } from "../api/status.ts";
import { serviceAccount } from "../kinds/config.ts";
import { keyOf, section } from "../kinds/kind.ts";
import { pod } from "../kinds/pod.ts";
import type { Admission } from "./admit.ts";

export function checkServiceAccount({ cluster, kind }: Admission, object: ApiObject): void {
  if (kind !== pod) return;
  const { namespace = "", name = "" } = object.metadata;
  const account = String(section(object, "spec").serviceAccountName);
  if (cluster.store.get(keyOf(serviceAccount, namespace, account))) return;
  const why = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw forbidden({ group: "", resource: "pods", name }, why);
}
