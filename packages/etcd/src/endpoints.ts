/** The members of an etcd cluster, as they are passed in: `https://a:2379`, or `a:2379` without TLS. */
import { type Problem, quote } from "@tenure/base";

export interface Endpoints {
  /** `host:port` of each member. */
  readonly addresses: readonly string[];
  readonly isTls: boolean;
}

const defaultPort = 2379;

export function readEndpoints(endpoints: readonly string[]): Endpoints {
  const urls = endpoints.map(parse);
  return {
    addresses: urls.map((url) => `${url.hostname}:${url.port || defaultPort}`),
    isTls: urls.some(({ protocol }) => protocol === "https:"),
  };
}

export function endpointProblems(endpoints: unknown): Problem[] {
  const rule = "must be a list of addresses like https://HOST:2379";
  if (!Array.isArray(endpoints) || endpoints.length === 0)
    return [{ field: "endpoints", rule, value: quote(endpoints) }];
  const wrong = endpoints.find((endpoint) => !isEndpoint(endpoint));
  if (wrong !== undefined) return [{ field: "endpoints", rule, value: quote(wrong) }];
  const schemes = new Set(endpoints.map((endpoint: string) => parse(endpoint).protocol));
  return schemes.size === 1
    ? []
    : [{ field: "endpoints", rule: "must all use https, or none of them", value: endpoints.join(",") }];
}

function isEndpoint(endpoint: unknown): boolean {
  if (typeof endpoint !== "string" || endpoint === "") return false;
  try {
    const { protocol, hostname, pathname, username } = parse(endpoint);
    return /^https?:$/.test(protocol) && hostname !== "" && pathname === "/" && username === "";
  } catch {
    return false;
  }
}

function parse(endpoint: string): URL {
  return new URL(endpoint.includes("://") ? endpoint : `http://${endpoint}`);
}
