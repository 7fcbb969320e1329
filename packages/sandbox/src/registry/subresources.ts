/** Subresources other than status, each with its own handler. */

import type { Kind } from "../objects/kind.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { pod } from "../objects/kinds/pod.ts";
import { deployment, replicaSet } from "../objects/kinds/workload.ts";
import { bind } from "./binding.ts";
import type { Answer, KindContext } from "./context.ts";
import { finalize } from "./finalize.ts";
import { getScale, patchScale, updateScale } from "./scale.ts";
import { requestToken } from "./token.ts";

type Handler = (context: KindContext) => Promise<Answer>;

export interface Subresource {
  of: Kind;
  name: string;
  /** What the request carries, for discovery. */
  kind: { group: string; version: string; kind: string };
  verbs: Record<string, Handler>;
}

const scale = { name: "scale", kind: { group: "autoscaling", version: "v1", kind: "Scale" } };
const scaleVerbs = { get: getScale, update: updateScale, patch: patchScale };

export const subresources: readonly Subresource[] = [
  {
    of: serviceAccount,
    name: "token",
    kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
    verbs: { create: requestToken },
  },
  {
    of: namespace,
    name: "finalize",
    kind: { group: "", version: "v1", kind: "Namespace" },
    verbs: { update: finalize },
  },
  { of: pod, name: "binding", kind: { group: "", version: "v1", kind: "Binding" }, verbs: { create: bind } },
  { ...scale, of: deployment, verbs: scaleVerbs },
  { ...scale, of: replicaSet, verbs: scaleVerbs },
];

export function findSubresource({ kind, info }: KindContext): Handler | "no such verb" | undefined {
  const found = subresources.find(({ of, name }) => of === kind && name === info.subresource);
  return found && (found.verbs[info.verb] ?? "no such verb");
}
