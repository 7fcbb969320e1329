/**
 * ServiceAccount tokens: JWTs with the claims of Kubernetes, signed with ES256. A token becomes invalid when its
 * ServiceAccount is deleted, or the Pod or Secret that it is bound to.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { keyOf } from "../objects/kind.ts";
import { secret, serviceAccount } from "../objects/kinds/config.ts";
import { pod } from "../objects/kinds/pod.ts";
import { at } from "../objects/object.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import { serviceAccountUser, type User } from "./user.ts";

export const tokenIssuer = "https://kubernetes.default.svc.cluster.local";

export interface BoundObject {
  kind: string;
  name: string;
  uid: string;
  /** Where the object is, if it is a pod on a node. */
  node?: { name: string; uid?: string };
}

interface Claims {
  aud: string[];
  exp: number;
  iat: number;
  iss: string;
  jti: string;
  nbf: number;
  sub: string;
  "kubernetes.io": {
    namespace: string;
    serviceaccount: { name: string; uid: string };
    pod?: { name: string; uid: string };
    /** The node of the pod. */
    node?: { name: string; uid?: string };
    secret?: { name: string; uid: string };
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

interface TokenRequest {
  namespace: string;
  name: string;
  uid: string;
  seconds: number;
  audiences?: string[];
  bound?: BoundObject;
}

export class ServiceAccountTokens {
  readonly #store: Store;
  readonly #platform: Platform;
  readonly #key: KeyObject;
  readonly #publicKey: KeyObject;
  /** Claims of tokens with a verified signature. Verifying one costs more than everything else in a request. */
  readonly #verified = new Map<string, Claims>();

  constructor(store: Store, keyPem: string, platform: Platform) {
    this.#store = store;
    this.#platform = platform;
    this.#key = createPrivateKey(keyPem);
    this.#publicKey = createPublicKey(keyPem);
  }

  issue({ namespace, name, uid, seconds, audiences = [tokenIssuer], bound }: TokenRequest): {
    token: string;
    expiresMs: number;
  } {
    const now = Math.floor(this.#platform.clock.now().wallMs / 1000);
    const claims: Claims = {
      aud: audiences,
      exp: now + seconds,
      iat: now,
      iss: tokenIssuer,
      jti: this.#platform.uuid(),
      "kubernetes.io": {
        namespace,
        ...(bound ? { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } } : {}),
        ...(bound?.node ? { node: bound.node } : {}),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const text = `${encode({ alg: "ES256", kid: "tenure-sandbox" })}.${encode(claims)}`;
    const signature = sign("sha256", Buffer.from(text), { key: this.#key, dsaEncoding: "ieee-p1363" });
    return { token: `${text}.${signature.toString("base64url")}`, expiresMs: claims.exp * 1000 };
  }

  /**
   * The user of a token. Undefined if the token is invalid or expired, or if an object that it depends on is deleted.
   */
  check(token: string, audiences: string[] = [tokenIssuer]): { user: User; audiences: string[] } | undefined {
    const claims = this.#claims(token);
    const now = this.#platform.clock.now().wallMs / 1000;
    if (!claims || claims.exp <= now || claims.nbf > now + 60) return undefined;
    const accepted = claims.aud.filter((audience) => audiences.includes(audience));
    if (accepted.length === 0) return undefined;
    const { namespace, serviceaccount, ...bound } = claims["kubernetes.io"];
    if (!this.#exists(keyOf(serviceAccount, namespace, serviceaccount.name), serviceaccount.uid))
      return undefined;
    for (const [kind, reference] of [[pod, bound.pod] as const, [secret, bound.secret] as const]) {
      if (reference && !this.#exists(keyOf(kind, namespace, reference.name), reference.uid)) return undefined;
    }
    const user = serviceAccountUser(namespace, serviceaccount.name, serviceaccount.uid);
    const extra: Record<string, string[]> = {
      "authentication.kubernetes.io/credential-id": [`JTI=${claims.jti}`],
    };
    if (bound.pod) {
      extra["authentication.kubernetes.io/pod-name"] = [bound.pod.name];
      extra["authentication.kubernetes.io/pod-uid"] = [bound.pod.uid];
    }
    if (bound.node) {
      extra["authentication.kubernetes.io/node-name"] = [bound.node.name];
      if (bound.node.uid) extra["authentication.kubernetes.io/node-uid"] = [bound.node.uid];
    }
    return { user: { ...user, extra }, audiences: accepted };
  }

  #exists(key: string, uid: string): boolean {
    return at(this.#store.get(key)?.value, "metadata", "uid") === uid;
  }

  #claims(token: string): Claims | undefined {
    const known = this.#verified.get(token);
    if (known) return known;
    const [header, payload, signature, ...rest] = token.split(".");
    if (!header || !payload || !signature || rest.length > 0) return undefined;
    const good = verify(
      "sha256",
      Buffer.from(`${header}.${payload}`),
      { key: this.#publicKey, dsaEncoding: "ieee-p1363" },
      Buffer.from(signature, "base64url"),
    );
    if (!good) return undefined;
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Claims;
    if (this.#verified.size >= 1024) this.#verified.clear();
    this.#verified.set(token, claims);
    return claims;
  }
}
