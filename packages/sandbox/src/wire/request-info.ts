/** Parses a method and a path into a verb on a resource, like RequestInfo of k8s.io/apiserver. */
import { noAttributes } from "../access/rules.ts";
import type { RequestInfo } from "../registry/context.ts";
import { isTrue } from "../registry/query.ts";

export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path.split("/").filter((part) => part !== "");
  const [root, ...rest] = parts;
  const resourceParts =
    root === "api" && rest.length > 1
      ? rest.slice(1)
      : root === "apis" && rest.length > 2
        ? rest.slice(2)
        : undefined;
  if (resourceParts === undefined) {
    const verb = method.toLowerCase();
    return { ...noAttributes, isResource: false, tooLong: false, verb, subresource: "", path };
  }

  const [group, version] = root === "api" ? ["", rest[0] as string] : [rest[0] as string, rest[1] as string];
  let namespace = "";
  let segments = resourceParts;
  if (segments[0] === "namespaces") {
    // /namespaces/x is the namespace itself, and /status and /finalize are its subresources. Other paths are inside it.
    const inside = segments.length > 2 && segments[2] !== "status" && segments[2] !== "finalize";
    namespace = segments[1] ?? "";
    if (inside) segments = segments.slice(2);
  }
  const [resource = "", name = "", subresource = "", ...more] = segments;
  const verb = verbOf(method, name, query);
  const isCollection = verb === "list" || verb === "watch" || verb === "deletecollection";
  return {
    isResource: true,
    // What follows /proxy is a path of the pod.
    tooLong: more.length > 0 && subresource !== "proxy",
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    // A rule for one name also covers a list or watch whose field selector allows only that name.
    name: isCollection ? selectedName(query) : name,
  };
}

function selectedName(query: URLSearchParams): string {
  const term = (query.get("fieldSelector") ?? "")
    .split(",")
    .find((part) => /^metadata\.name==?[^=]/.test(part));
  return term?.replace(/^metadata\.name==?/, "") ?? "";
}

const verbOfMethod: Record<string, string> = { POST: "create", PUT: "update", PATCH: "patch" };

function verbOf(method: string, name: string, query: URLSearchParams): string {
  if (method === "GET" || method === "HEAD") {
    if (name) return "get";
    return isTrue(query.get("watch")) ? "watch" : "list";
  }
  if (method === "DELETE") return name ? "delete" : "deletecollection";
  return verbOfMethod[method] ?? "";
}
