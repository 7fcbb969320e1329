/** The servers of a URL, as libpq writes them: `postgres://user@a:5432,b:5433/database`. The first writable one is used. */
import { type Problem, quote } from "@tenure/base";

/** One URL for each server. */
export function serverUrls(url: string): readonly string[] {
  const { head, hosts, tail } = split(url);
  return hosts.map((host) => `${head}${host}${tail}`);
}

/** The servers without user, password and parameters, for messages: `postgres a:5432,b:5433/database`. */
export function describeServers(url: string): string {
  const { hosts, tail } = split(url);
  return `postgres ${hosts.join(",")}${tail.replace(/\?.*$/, "")}`;
}

export function urlProblem(field: string, url: unknown): Problem | undefined {
  const isUrl = typeof url === "string" && /^postgres(ql)?:\/\//i.test(url);
  if (isUrl && serverUrls(url).every((one) => URL.canParse(one))) return undefined;
  // The value may contain a password.
  const start = typeof url === "string" ? url.replace(/\/\/.*$/s, "//…") : url;
  return { field, rule: "must be a URL like postgres://USER@HOST:5432/DATABASE", value: quote(start) };
}

function split(url: string): { head: string; hosts: string[]; tail: string } {
  const start = url.indexOf("://") + 3;
  const authorityLength = url.slice(start).search(/[/?#]/);
  const end = authorityLength < 0 ? url.length : start + authorityLength;
  const authority = url.slice(start, end);
  const at = authority.lastIndexOf("@") + 1;
  return {
    head: url.slice(0, start) + authority.slice(0, at),
    hosts: authority.slice(at).split(","),
    tail: url.slice(end),
  };
}
