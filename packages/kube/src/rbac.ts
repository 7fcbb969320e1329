/**
 * Which RBAC rule a request needs. The result depends only on the request, so that the error for a 403 can quote the missing
 * rule. It does not know what the cluster grants, and it knows no authorizer other than RBAC.
 */

export type RbacRule =
  | { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }
  | { nonResourceURLs: string[]; verbs: string[] };

export type RbacNeed = {
  verb: string;
  /** `""` is the core group. */
  apiGroup: string;
  /** With its subresource: `pods/status`. Empty for a path that is not a resource. */
  resource: string;
  name?: string;
  namespace?: string;
  /** The kind of object that must contain the rule. */
  role: "Role" | "ClusterRole";
  rule: RbacRule;
};

const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/**
 * @param path with or without a query. A `fieldSelector` of `metadata.name=x` restricts a list or a watch to that name, as in
 * the API server.
 */
export function rbacRuleFor(method: string, path: string, isWatch = false): RbacNeed {
  const [pathname = "", query = ""] = path.split("?", 2);
  const plain = verbs[method.toUpperCase()] ?? method.toLowerCase();
  const parts = pathname.split("/").filter(Boolean).map(decode);
  const root = parts[0] === "api" ? 2 : parts[0] === "apis" ? 3 : undefined;
  if (root === undefined || parts.length <= root) {
    return {
      verb: plain,
      apiGroup: "",
      resource: "",
      role: "ClusterRole",
      rule: { nonResourceURLs: [pathname], verbs: [plain] },
    };
  }
  const apiGroup = root === 3 ? (parts[1] ?? "") : "";
  let rest = parts.slice(root);
  let namespace: string | undefined;
  // /namespaces/x/status is about the namespace itself; /namespaces/x/pods is about pods in it.
  if (rest[0] === "namespaces" && rest.length > 2 && !namespaceSubresources.has(rest[2] ?? "")) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [kind = "", named, ...sub] = rest;
  const resource = [kind, ...sub].join("/");
  const name = named ?? selectedName(query);
  const verb = verbFor(plain, named !== undefined, isWatch);
  // A new object has no name yet when the server authorizes it, so a rule with a name would never match.
  const nameable = name !== undefined && (verb !== "create" || sub.length > 0) && verb !== "deletecollection";
  return {
    verb,
    apiGroup,
    resource,
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    role: namespace === undefined ? "ClusterRole" : "Role",
    rule: {
      apiGroups: [apiGroup],
      resources: [resource],
      ...(nameable && { resourceNames: [name] }),
      verbs: [verb],
    },
  };
}

/** The rule as one line of YAML, ready to paste under `rules:`. */
export function formatRule(rule: RbacRule): string {
  const fields = Object.entries(rule).map(
    ([key, values]) => `${key}: [${values.map((value) => JSON.stringify(value)).join(", ")}]`,
  );
  return `{${fields.join(", ")}}`;
}

/** The request in words: `update leases.coordination.k8s.io "my-lock" in namespace "prod"`. */
export function describeNeed(need: RbacNeed): string {
  if ("nonResourceURLs" in need.rule) return `${need.verb} ${need.rule.nonResourceURLs[0]}`;
  const full = need.apiGroup === "" ? need.resource : `${need.resource}.${need.apiGroup}`;
  const name = need.name === undefined ? "" : ` "${need.name}"`;
  return `${need.verb} ${full}${name}${need.namespace === undefined ? "" : ` in namespace "${need.namespace}"`}`;
}

const namespaceSubresources = new Set(["status", "finalize"]);

function verbFor(plain: string, isNamed: boolean, isWatch: boolean): string {
  if (isWatch) return "watch";
  if (isNamed) return plain;
  return plain === "get" ? "list" : plain === "delete" ? "deletecollection" : plain;
}

function selectedName(query: string): string | undefined {
  const selector = new URLSearchParams(query).get("fieldSelector") ?? "";
  const match = /(?:^|,)metadata\.name==?([^,]+)/.exec(selector);
  return match?.[1];
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
