/** Decides whether one rule of a role covers one request. */
import type { PolicyRule } from "../objects/kinds/rbac.ts";

/** What a request asks for: a verb on a resource, or on a `path` that is not a resource. */
export interface Attributes {
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource?: string;
  namespace: string;
  name: string;
  path?: string;
}

/** To be completed with the attributes of a request. */
export const noAttributes = { verb: "", group: "", version: "", resource: "", namespace: "", name: "" };

const has = (list: string[] | undefined, value: string) =>
  list !== undefined && (list.includes("*") || list.includes(value));

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined) {
    return (rule.nonResourceURLs ?? []).some((url) => pathMatches(url, attributes.path as string));
  }
  if (!has(rule.apiGroups, attributes.group)) return false;
  if (!resourceMatches(rule.resources ?? [], attributes)) return false;
  return !rule.resourceNames?.length || rule.resourceNames.includes(attributes.name);
}

function resourceMatches(resources: string[], { resource, subresource }: Attributes): boolean {
  const combined = subresource ? `${resource}/${subresource}` : resource;
  return resources.some(
    (name) => name === "*" || name === combined || (subresource && name === `*/${subresource}`),
  );
}

function pathMatches(url: string, path: string): boolean {
  return url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));
}
