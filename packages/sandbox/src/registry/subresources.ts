/** Finds the handler of a subresource other than status. */
import { type Subresource, subresources } from "../objects/resources.ts";
import { bind } from "./binding.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { evict } from "./eviction.ts";
import { finalize } from "./finalize.ts";
import { get } from "./get.ts";
import { patch } from "./patch.ts";
import { getScale, patchScale, updateScale } from "./scale.ts";
import { requestToken } from "./token.ts";
import { update } from "./update.ts";

type Handler = (context: KindContext) => Promise<ApiResponse>;

const handlers: Record<Subresource["name"], Record<string, Handler>> = {
  approval: { get, update, patch },
  binding: { create: bind },
  eviction: { create: evict },
  finalize: { update: finalize },
  scale: { get: getScale, update: updateScale, patch: patchScale },
  token: { create: requestToken },
};

export function findSubresource({ kind, info }: KindContext): Handler | "no such verb" | undefined {
  const found = subresources.find(({ of, name }) => of === kind && name === info.subresource);
  return found && (handlers[found.name][info.verb] ?? "no such verb");
}
