/**
 * HTTP to a port of a pod through the API: /pods/[https:]NAME[:PORT]/proxy/PATH. The agent of the pod's node makes the connection,
 * because only it reaches the network of the pods.
 */
import { section } from "../objects/kind.ts";
import type { PodSpec } from "../objects/kinds/pod-template.ts";
import { badRequest } from "../objects/status.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { findObject } from "./get.ts";
import { agentOfPod } from "./node-agent.ts";

const ports: Readonly<Record<string, number>> = { http: 80, https: 443 };

export async function proxyToPod(context: KindContext): Promise<ApiResponse> {
  const { info, request } = context;
  const { scheme, name, port } = parseName(info.name);
  const of = { ...context, info: { ...info, name } };
  const spec = section(findObject(of).value, "spec") as PodSpec;
  const { rest, query } = afterProxy(request.url);
  // A page that a browser shows needs the slash for its links.
  if (rest === "") return { type: "redirect", location: `${request.url.split("?")[0]}/${query}` };
  const place = [info.namespace, name, scheme, String(port ?? firstPort(spec) ?? ports[scheme])];
  const path = `/proxy/${place.map(encodeURIComponent).join("/")}${rest}${query}`;
  return { type: "forward", target: { ...agentOfPod(of, spec), path, kind: "proxy" } };
}

function parseName(text: string) {
  const [, scheme = "http", name = "", port] = /^(?:(https?|):)?([^:]+)(?::(\d*))?$/.exec(text) ?? [];
  const isPort = port === undefined || port === "" || (Number(port) > 0 && Number(port) < 65_536);
  if (!name || !isPort) throw badRequest(`invalid pod request ${JSON.stringify(text)}`);
  return { scheme: scheme || "http", name, port: port ? Number(port) : undefined };
}

function firstPort({ containers = [] }: PodSpec): number | undefined {
  const all = containers.flatMap(({ ports }) => (ports ?? []) as { containerPort?: number }[]);
  return all[0]?.containerPort;
}

/** What follows /proxy in the path as it was sent, and the query with its question mark. */
function afterProxy(url: string): { rest: string; query: string } {
  const [, rest = "", query = ""] = /^(?:\/[^/?]+){6}\/proxy([^?]*)(\?.*)?$/.exec(url) ?? [];
  return { rest, query };
}
