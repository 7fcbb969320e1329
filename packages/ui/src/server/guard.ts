/**
 * Who may ask for what. The page itself is public and holds no secret. Everything else needs the session of the page: a random
 * value that the page keeps and sends in a header. No cookie is used, so a page of another origin has nothing that a browser would
 * send for it. The Host header is checked too: a name of an attacker that resolves to this machine is not one of ours.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

export interface GuardOptions {
  /** Names of this server beside localhost and addresses. */
  readonly hostNames: readonly string[];
  /** The value that opens the first session; undefined if everybody who reaches this server may read. */
  readonly oneTimeToken: string | undefined;
  /** Makes a value that nobody can guess. */
  readonly secret: () => string;
}

export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** A page is opened a few times at most. */
const mostSessions = 16;

export class Guard {
  readonly #options: GuardOptions;
  readonly #sessions: string[] = [];
  #isTokenUsed = false;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Rejects requests that another page could make a browser send. */
  checkOrigin({ host = "", origin, "sec-fetch-site": site }: IncomingHttpHeaders): Refusal | undefined {
    const name = hostName(host);
    const isOurs =
      name !== undefined &&
      (isIP(name) !== 0 || name === "localhost" || this.#options.hostNames.includes(name));
    if (!isOurs)
      return {
        status: 403,
        message: `This server has no name ${JSON.stringify(host.slice(0, 100))}. Use its address.`,
      };
    if (origin !== undefined && origin !== `http://${host}`)
      return { status: 403, message: "A page of another origin cannot use this server." };
    if (site !== undefined && site !== "same-origin" && site !== "none")
      return { status: 403, message: "A page of another origin cannot use this server." };
    return undefined;
  }

  /** Opens a session for the one-time token. */
  open(token: unknown): { readonly session: string } | Refusal {
    const { oneTimeToken, secret } = this.#options;
    const isRight = oneTimeToken === undefined || (typeof token === "string" && isSame(token, oneTimeToken));
    if (!isRight)
      return { status: 403, message: "This address is wrong. Use the one that tenure ui printed." };
    if (oneTimeToken !== undefined && this.#isTokenUsed)
      return {
        status: 403,
        message:
          "This address has been used. It works once: go back to the page that it opened, or start tenure ui again.",
      };
    this.#isTokenUsed = true;
    const session = secret();
    this.#sessions.push(session);
    if (this.#sessions.length > mostSessions) this.#sessions.shift();
    return { session };
  }

  checkSession({ authorization = "" }: IncomingHttpHeaders): Refusal | undefined {
    const [, given = ""] = /^Bearer (\S+)$/.exec(authorization) ?? [];
    if (this.#sessions.some((session) => isSame(given, session))) return undefined;
    return { status: 401, message: "The session of this page has ended. Start tenure ui again." };
  }
}

function hostName(host: string): string | undefined {
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase() : undefined;
}

/** Takes the same time wherever the two differ. */
function isSame(given: string, expected: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
