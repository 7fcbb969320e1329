/**
 * The secrets of a sandbox: its CA, the administrator token and the key that signs ServiceAccount tokens. The store
 * keeps them, so a kubeconfig remains valid when a sandbox restarts on its data directory, and two servers over one
 * store accept each other's tokens.
 */
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import { type KeyAndCertificate, newAuthority, newKeyPem } from "./certificate.ts";

/** No kind is stored under this key, so no request can read it. */
const identityKey = "/registry/tenure.dev/identity";

interface Identity {
  authority: KeyAndCertificate;
  adminToken: string;
  serviceAccountKeyPem: string;
}

export async function loadIdentity(store: Store, platform: Platform): Promise<Identity> {
  const stored = await store.commit(identityKey, (current) => {
    if (current) return undefined;
    const identity: Identity = {
      authority: newAuthority("tenure-sandbox-ca", platform),
      adminToken: platform.randomBytes(24).toString("base64url"),
      serviceAccountKeyPem: newKeyPem(),
    };
    return { apiVersion: "tenure.dev/v1", kind: "Identity", metadata: { name: "identity" }, identity };
  });
  return stored?.value.identity as Identity;
}
