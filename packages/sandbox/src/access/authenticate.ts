/**
 * First step of a request: who is it? A client certificate of our CA, a bearer token, or nobody (system:anonymous,
 * which by default may read nothing but health and version). A credential that is wrong is refused, not ignored.
 */
import { createHash, timingSafeEqual, X509Certificate } from "node:crypto";
import { unauthorized } from "../objects/status.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";
import { adminUser, anonymousUser, authenticatedGroup, type User } from "./user.ts";

export interface Credentials {
  authorization: string | undefined;
  /** The DER of a certificate that the TLS layer found to be of our CA. */
  certificate: Uint8Array | undefined;
}

export interface Authenticator {
  authenticate(credentials: Credentials): User;
}

export function createAuthenticator(adminToken: string, tokens: ServiceAccountTokens): Authenticator {
  const adminHash = hash(adminToken);
  return {
    authenticate({ authorization, certificate }) {
      if (certificate) return certificateUser(certificate);
      if (authorization === undefined) return anonymousUser;
      const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
      if (token === undefined) return anonymousUser;
      if (timingSafeEqual(hash(token), adminHash)) return adminUser;
      const user = tokens.check(token)?.user;
      if (user === undefined) throw unauthorized();
      return user;
    },
  };
}

const hash = (text: string) => createHash("sha256").update(text).digest();

function certificateUser(der: Uint8Array): User {
  const lines = new X509Certificate(der).subject
    .split("\n")
    .map((line) => line.split("=") as [string, string]);
  const values = (type: string) =>
    lines.filter(([key]) => key === type).map(([, ...value]) => value.join("="));
  return { name: values("CN")[0] ?? "", groups: [...values("O"), authenticatedGroup] };
}
