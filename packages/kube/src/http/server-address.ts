/** Checks the address of the API server before anything is sent, so that no token crosses a network unencrypted. */
import { isIPv4 } from "node:net";
import { KubeError } from "../errors.ts";

export function parseServer(server: string): URL {
  let url: URL;
  try {
    url = new URL(server);
  } catch (error) {
    throw new KubeError(
      "BadConfig",
      `Cannot use the server "${server}": it is not a URL. Write it as https://host:port.`,
      { cause: error },
    );
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new KubeError(
      "BadConfig",
      `Cannot use the server ${server}: http:// would send credentials unencrypted, so it is allowed only on loopback ` +
        "(localhost, 127.0.0.1, [::1]). Use https://.",
    );
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new KubeError("BadConfig", `Cannot use the server ${server}: it must start with https://.`);
  }
  return url;
}

/** @param hostname from a `URL`, with IPv6 in brackets */
export function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true;
  return isIPv4(hostname) ? hostname.startsWith("127.") : hostname === "[::1]";
}

/** The host without the brackets around IPv6, as sockets expect it. Only IPv6 has brackets. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
