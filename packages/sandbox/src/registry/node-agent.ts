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

export const getLog = (context: KindContext) => forward(context, "containerLogs", false);
export const connectExec = (context: KindContext) => forward(context, "exec", true);
export const connectAttach = (context: KindContext) => forward(context, "attach", true);
export const connectPorts = (context: KindContext) => forward(context, "portForward", true);

async function forward(context: KindContext, action: string, isUpgrade: boolean): Promise<ApiResponse> {
  const { info, request } = context;
  const pod = findObject(context).value;
  const spec = section(pod, "spec") as PodSpec;
  if (!spec.nodeName) throw badRequest(`pod ${info.name} does not have a host assigned`);
  const parts = [action, info.namespace, info.name];
  if (action !== "portForward") parts.push(containerOf(context, spec));
  const path = `/${parts.map(encodeURIComponent).join("/")}?${request.query}`;
  return { type: "forward", target: { ...agentOf(context, spec.nodeName), path, isUpgrade } };
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

function agentOf({ cluster }: KindContext, name: string): Pick<AgentTarget, "host" | "port" | "token"> {
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
