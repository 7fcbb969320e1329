/**
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY, with the meaning that client-go gives them: hosts with their subdomains, addresses,
 * CIDR ranges, optional ports, `*`. Loopback never goes through a proxy.
 */
import { BlockList, isIP } from "node:net";
import { bareHost, isLoopback } from "./server-address.ts";

export function proxyFromEnv(
  server: URL,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const isHttps = server.protocol === "https:";
  const proxy = isHttps ? env.HTTPS_PROXY || env.https_proxy : env.HTTP_PROXY || env.http_proxy;
  if (!proxy || isLoopback(server.hostname)) return undefined;
  const port = server.port || (isHttps ? "443" : "80");
  const isExempt = (env.NO_PROXY || env.no_proxy || "")
    .split(",")
    .some((entry) => matches(entry.trim().toLowerCase(), bareHost(server.hostname), port));
  if (isExempt) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  if (entry.includes("/")) return inRange(entry, host);
  if (isIP(entry) !== 0) return entry === host;
  const [, name = "", onlyPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const plain = bareHost(name.replace(/^\*(?=\.)/, ""));
  if (isIP(plain) !== 0) return plain === host;
  return plain.startsWith(".") ? host.endsWith(plain) : host === plain || host.endsWith(`.${plain}`);
}

function inRange(entry: string, host: string): boolean {
  const family = isIP(host);
  const [address = "", bits = ""] = entry.split("/", 2);
  if (family === 0 || isIP(address) !== family || !/^\d+$/.test(bits)) return false;
  const range = new BlockList();
  try {
    range.addSubnet(address, Number(bits), family === 6 ? "ipv6" : "ipv4");
  } catch {
    return false;
  }
  return range.check(host, family === 6 ? "ipv6" : "ipv4");
}
