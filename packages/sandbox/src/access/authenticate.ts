/**
 * Authentication by a client certificate of the sandbox CA or by a bearer token. A request without credentials comes
 * from system:anonymous, which by default can read only health and version. Wrong credentials are rejected, not
 * ignored.
 */
import { timingSafeEqual, X509Certificate } from "node:crypto";
import { unauthorized } from "../objects/status.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";
import { adminUser, anonymousUser, authenticatedGroup, type User } from "./user.ts";

export interface Credentials {
  authorization: string | undefined;
  /** The client certificate as DER. The TLS layer has verified that the sandbox CA issued it. */
  certificate: Uint8Array | undefined;
}

export interface Authenticator {
  authenticate(credentials: Credentials): User;
}

export function createAuthenticator(adminToken: string, tokens: ServiceAccountTokens): Authenticator {
  const admin = Buffer.from(adminToken);
  return {
    authenticate({ authorization, certificate }) {
      if (certificate) return certificateUser(certificate);
      if (authorization === undefined) return anonymousUser;
      const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
      if (token === undefined) return anonymousUser;
      if (isSecret(Buffer.from(token), admin)) return adminUser;
      const user = tokens.check(token)?.user;
      if (user === undefined) throw unauthorized();
      return user;
    },
  };
}

/** Takes the same time for every token of the right length. The length is no secret. */
const isSecret = (given: Buffer, secret: Buffer) =>
  given.length === secret.length && timingSafeEqual(given, secret);

function certificateUser(der: Uint8Array): User {
  const lines = new X509Certificate(der).subject
    .split("\n")
    .map((line) => line.split("=") as [string, string]);
  const values = (type: string) =>
    lines.filter(([key]) => key === type).map(([, ...value]) => value.join("="));
  return { name: values("CN")[0] ?? "", groups: [...values("O"), authenticatedGroup] };
}
