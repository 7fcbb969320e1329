/** Finds the handler of a subresource other than status. */
import { type Subresource, subresources } from "../objects/resources.ts";
import { bind } from "./binding.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { evict } from "./eviction.ts";
import { finalize } from "./finalize.ts";
import { get } from "./get.ts";
import { connectAttach, connectExec, connectPorts, getLog } from "./node-agent.ts";
import { patch } from "./patch.ts";
import { proxyToPod } from "./pod-proxy.ts";
import { getScale, patchScale, updateScale } from "./scale.ts";
import { requestToken } from "./token.ts";
import { update } from "./update.ts";

type Handler = (context: KindContext) => Promise<ApiResponse>;

const handlers: Record<Subresource["name"], Record<string, Handler>> = {
  approval: { get, update, patch },
  attach: { create: connectAttach, get: connectAttach },
  binding: { create: bind },
  eviction: { create: evict },
  exec: { create: connectExec, get: connectExec },
  finalize: { update: finalize },
  log: { get: getLog },
  portforward: { create: connectPorts, get: connectPorts },
  proxy: { create: proxyToPod, delete: proxyToPod, get: proxyToPod, patch: proxyToPod, update: proxyToPod },
  scale: { get: getScale, update: updateScale, patch: patchScale },
  token: { create: requestToken },
};

export function findSubresource({ kind, info }: KindContext): Handler | "no such verb" | undefined {
  const found = subresources.find(({ of, name }) => of === kind && name === info.subresource);
  return found && (handlers[found.name][info.verb] ?? "no such verb");
}
