/** Tokens of the ServiceAccount of one pod. A token is renewed after 80 % of its life, as in the kubelet. */
import type { Clock } from "@tenure/base";
import type { ApiClient } from "../../client/api.ts";
import type { NodePod } from "../pod.ts";

interface IssuedToken {
  readonly token: string;
  /** On the wall clock. */
  readonly renewMs: number;
}

interface TokenRequest {
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

const renewAfter = 0.8;
const defaultSeconds = 3600;

export class PodTokens {
  readonly #client: ApiClient;
  readonly #clock: Clock;
  readonly #pod: NodePod;
  readonly #issued = new Map<string, IssuedToken>();

  constructor(client: ApiClient, clock: Clock, pod: NodePod) {
    this.#client = client;
    this.#clock = clock;
    this.#pod = pod;
  }

  async token(audience: string | undefined, expirationSeconds = defaultSeconds): Promise<string> {
    const key = JSON.stringify([audience, expirationSeconds]);
    const { wallMs } = this.#clock.now();
    const known = this.#issued.get(key);
    if (known && wallMs < known.renewMs) return known.token;
    const { metadata, spec } = this.#pod;
    const { namespace, name, uid } = metadata;
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName ?? "default"}/token`;
    const { status } = await this.#client.request<TokenRequest>({
      method: "POST",
      path,
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: {
          ...(audience ? { audiences: [audience] } : {}),
          expirationSeconds,
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
        },
      },
    });
    const lifeMs = Date.parse(status.expirationTimestamp) - wallMs;
    this.#issued.set(key, { token: status.token, renewMs: wallMs + lifeMs * renewAfter });
    return status.token;
  }
}
