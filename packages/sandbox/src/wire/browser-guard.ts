/**
 * Rejects requests that a web page could make a browser send. A sandbox that allows everything without credentials
 * would otherwise obey every page that its user opens: directly (the browser then states the origin of the page), or
 * under a name of the page that resolves to this machine (the Host header then has that name).
 */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { quote } from "../objects/quote.ts";
import { forbiddenPath } from "../objects/status.ts";

/** `names` are the names of this server. Addresses are always accepted: no page can make one point elsewhere. */
export function checkBrowserRequest({ host = "", origin }: IncomingHttpHeaders, names: Set<string>): void {
  const name = hostName(`http://${host}`);
  if (host !== "" && !(name !== undefined && (isIP(name) !== 0 || names.has(name)))) {
    throw forbiddenPath(
      `this server has no name ${quote(host)}: use its address, or send a token, or start the sandbox with that name`,
    );
  }
  if (origin === undefined || isOwnOrigin(origin, host)) return;
  throw forbiddenPath(`the web page ${quote(origin)} cannot use this server without a token: send a token`);
}

const isOwnOrigin = (origin: string, host: string) =>
  origin === `http://${host}` || origin === `https://${host}`;

function hostName(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  } catch {
    return undefined;
  }
}
