/** Discovery, in the older form (one document per group) and the aggregated form. Also the health and version paths. */
import { type DiscoveredResource, groupVersions, resourcesOf } from "../objects/resources.ts";
import { kubernetesRelease } from "../objects/schema.ts";
import type { ApiResponse, Context } from "../registry/context.ts";
import { openApi } from "./openapi.ts";
import { openApiV2 } from "./openapi-v2.ts";

export async function discovery(context: Context): Promise<ApiResponse | undefined> {
  const { path, method } = context.request;
  const clean = path.replace(/(.)\/$/, "$1");
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(clean)) return health(context, clean);
  if (method !== "GET" && method !== "HEAD") return undefined;
  const ok = (value: unknown): ApiResponse => ({ type: "object", code: 200, value });
  if (clean === "/") return ok({ paths: allPaths() });
  if (clean === "/version") return ok(version());
  if (clean === "/api" || clean === "/apis") {
    const form = aggregatedForm(context.request.headers.accept);
    if (form) return aggregated(clean, form);
  }
  if (clean === "/api") {
    return ok({
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [
        { clientCIDR: "0.0.0.0/0", serverAddress: context.request.headers.host ?? "" },
      ],
    });
  }
  const named = groupVersions.filter(({ group }) => group !== "");
  if (clean === "/apis") return ok({ kind: "APIGroupList", apiVersion: "v1", groups: named.map(printGroup) });
  if (clean === "/api/v1") return ok(resourceList("", "v1"));
  const [, root, group = "", wanted] = clean.split("/");
  const found = root === "apis" ? named.find((entry) => entry.group === group) : undefined;
  if (found && wanted === undefined) return ok({ kind: "APIGroup", apiVersion: "v1", ...printGroup(found) });
  if (found?.versions.includes(wanted as string)) return ok(resourceList(group, wanted as string));
  if (clean === "/openapi/v2") return openApiV2(context.request.headers.accept);
  return openApi(clean);
}

/** A sandbox that cannot store anything is alive, but not ready. */
async function health({ cluster }: Context, path: string): Promise<ApiResponse> {
  const problem = path.startsWith("/livez") ? undefined : await cluster.store.problem();
  if (problem === undefined) return { type: "text", code: 200, text: "ok" };
  const check = path.split("/")[1];
  return { type: "text", code: 500, text: `[-]store failed: ${problem}\n${check} check failed\n` };
}

function allPaths(): string[] {
  const groups = groupVersions.flatMap(({ group, versions }) =>
    group ? [`/apis/${group}`, ...versions.map((name) => `/apis/${group}/${name}`)] : ["/api", "/api/v1"],
  );
  return [
    ...groups,
    "/apis",
    "/healthz",
    "/livez",
    "/openapi/v2",
    "/openapi/v3",
    "/readyz",
    "/version",
  ].sort();
}

function version() {
  const [major, minor] = kubernetesRelease.slice(1).split(".") as [string, string];
  return {
    major,
    minor,
    gitVersion: `${kubernetesRelease}+tenure-sandbox`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "none",
    compiler: "node",
    platform: "any",
  };
}

function printGroup({ group, versions }: { group: string; versions: string[] }) {
  const list = versions.map((name) => ({ groupVersion: `${group}/${name}`, version: name }));
  return { name: group, versions: list, preferredVersion: list[0] };
}

function resourceList(group: string, name: string) {
  const groupVersion = group ? `${group}/${name}` : name;
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion,
    resources: resourcesOf(group, name).flatMap((resource) => [
      {
        name: resource.plural,
        singularName: resource.singular,
        namespaced: resource.namespaced,
        kind: resource.kind,
        verbs: resource.verbs,
        ...(resource.shortNames ? { shortNames: resource.shortNames } : {}),
        ...(resource.categories ? { categories: resource.categories } : {}),
      },
      ...resource.subresources.map((sub) => ({
        name: `${resource.plural}/${sub.name}`,
        singularName: "",
        namespaced: resource.namespaced,
        ...(sub.kind.group === group && sub.kind.version === name
          ? {}
          : { group: sub.kind.group, version: sub.kind.version }),
        kind: sub.kind.kind,
        verbs: sub.verbs,
      })),
    ]),
  };
}

/** The version of aggregated discovery that a client accepts, if any. */
function aggregatedForm(accept = ""): string | undefined {
  return ["v2", "v2beta1"].find((name) =>
    accept
      .split(",")
      .some(
        (part) =>
          part.includes("g=apidiscovery.k8s.io") &&
          part.includes(`v=${name};`) &&
          part.includes("as=APIGroupDiscoveryList"),
      ),
  );
}

function aggregated(path: string, form: string): ApiResponse {
  const groups = groupVersions.filter(({ group }) => (path === "/api") === (group === ""));
  const value = {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${form}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: { ...(group ? { name: group } : {}), creationTimestamp: null },
      versions: versions.map((name) => ({
        version: name,
        freshness: "Current",
        resources: resourcesOf(group, name).map(aggregatedResource),
      })),
    })),
  };
  const contentType = `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`;
  return { type: "object", code: 200, value, headers: { "Content-Type": contentType } };
}

function aggregatedResource(resource: DiscoveredResource) {
  const { plural, singular, namespaced, group, version: of, kind, verbs, shortNames, categories } = resource;
  const isOwn = (other: { group: string; version: string }) => other.group === group && other.version === of;
  return {
    resource: plural,
    // Empty group and version stand for those of the enclosing document.
    responseKind: { group: "", version: "", kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames ? { shortNames } : {}),
    ...(categories ? { categories } : {}),
    ...(resource.subresources.length > 0
      ? {
          subresources: resource.subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: isOwn(sub.kind)
              ? { group: "", version: "", kind: sub.kind.kind }
              : { group: sub.kind.group, version: sub.kind.version, kind: sub.kind.kind },
            verbs: sub.verbs,
          })),
        }
      : {}),
  };
}
