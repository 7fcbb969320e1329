/**
 * Requests that the agent of a pod's node answers: logs, programs in containers, and connections to ports. The API server finds
 * the agent by the Node object, and proves itself with a secret that the agent wrote into the namespace kube-system.
 */
import { keyOf, section } from "../objects/kind.ts";
import { secret } from "../objects/kinds/config.ts";
import { node } from "../objects/kinds/node.ts";
import type { Container, PodSpec } from "../objects/kinds/pod-template.ts";
import { at } from "../objects/object.ts";
import { ApiError, badRequest } from "../objects/status.ts";
import type { AgentTarget, ApiResponse, KindContext } from "./context.ts";
import { findObject } from "./get.ts";

export const getLog = (context: KindContext) => forward(context, "containerLogs", "request");
export const connectExec = (context: KindContext) => forward(context, "exec", "upgrade");
export const connectAttach = (context: KindContext) => forward(context, "attach", "upgrade");
export const connectPorts = (context: KindContext) => forward(context, "portForward", "upgrade");

async function forward(
  context: KindContext,
  action: string,
  kind: AgentTarget["kind"],
): Promise<ApiResponse> {
  const { info, request } = context;
  const spec = section(findObject(context).value, "spec") as PodSpec;
  const agent = agentOfPod(context, spec);
  const parts = [action, info.namespace, info.name];
  if (action !== "portForward") parts.push(containerOf(context, spec));
  const path = `/${parts.map(encodeURIComponent).join("/")}?${request.query}`;
  return { type: "forward", target: { ...agent, path, kind } };
}

type Agent = Pick<AgentTarget, "host" | "port" | "token">;

export function agentOfPod(context: KindContext, { nodeName }: PodSpec): Agent {
  if (!nodeName) throw badRequest(`pod ${context.info.name} does not have a host assigned`);
  return agentOf(context, nodeName);
}

function containerOf({ info, request }: KindContext, spec: PodSpec): string {
  const names = (containers: Container[] = []) => containers.map(({ name }) => String(name));
  const asked = request.query.get("container");
  const [apps, init] = [names(spec.containers), names(spec.initContainers)];
  if (asked) {
    if ([...apps, ...init].includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${info.name}`);
  }
  if (apps.length === 1) return apps[0] as string;
  const also = init.length > 0 ? ` or one of the init containers: [${init.join(" ")}]` : "";
  throw badRequest(
    `a container name must be specified for pod ${info.name}, choose one of: [${apps.join(" ")}]${also}`,
  );
}

function agentOf({ cluster }: KindContext, name: string): Agent {
  const found = cluster.store.get(keyOf(node, "", name))?.value;
  const port = at(found, "status", "daemonEndpoints", "kubeletEndpoint", "Port");
  const addresses = at(found, "status", "addresses");
  const host = (Array.isArray(addresses) ? addresses : []).find(({ type }) => type === "InternalIP")?.address;
  const stored = cluster.store.get(keyOf(secret, "kube-system", `node-agent-${name}`))?.value;
  const token = at(stored, "data", "token");
  if (typeof port !== "number" || typeof host !== "string" || typeof token !== "string") {
    throw new ApiError(
      500,
      "InternalError",
      `Internal error occurred: node ${JSON.stringify(name)} has no node agent of tenure, so nothing runs its pods`,
    );
  }
  return { host, port, token: Buffer.from(token, "base64").toString("utf8") };
}
