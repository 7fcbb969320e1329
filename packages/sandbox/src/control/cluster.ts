/**
 * What all API servers over one store share: its identity (CA, keys, the administrator's token), its authenticator and
 * authorizer, its first objects, and the housekeeping. It is made once for each store, so that two servers over one
 * store behave as one (D6).
 */
import { type Authenticator, createAuthenticator } from "../access/authenticate.ts";
import { type Authorizer, createAuthorizer } from "../access/authorizer.ts";
import type { KeyAndCertificate } from "../access/certificate.ts";
import { loadIdentity } from "../access/identity.ts";
import { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import { createFirstObjects } from "./bootstrap.ts";
import { startHousekeeping } from "./controllers.ts";

export interface Cluster {
  store: Store;
  platform: Platform;
  authority: KeyAndCertificate;
  adminToken: string;
  tokens: ServiceAccountTokens;
  authenticator: Authenticator;
  authorizer: Authorizer;
  /** Resolves when the housekeeping has nothing left to do. */
  settled(): Promise<void>;
  stop(): void;
}

const clusters = new WeakMap<Store, Promise<Cluster>>();

export function openCluster(store: Store, platform: Platform): Promise<Cluster> {
  let cluster = clusters.get(store);
  if (!cluster) {
    cluster = open(store, platform);
    clusters.set(store, cluster);
  }
  return cluster;
}

async function open(store: Store, platform: Platform): Promise<Cluster> {
  const { authority, adminToken, serviceAccountKeyPem } = await loadIdentity(store, platform);
  const tokens = new ServiceAccountTokens(store, serviceAccountKeyPem, platform);
  const housekeeping = startHousekeeping(store, platform);
  await createFirstObjects(store, platform);
  await housekeeping.settled();
  // The first objects are no news to anybody.
  store.compact();
  return {
    store,
    platform,
    authority,
    adminToken,
    tokens,
    authenticator: createAuthenticator(adminToken, tokens),
    authorizer: createAuthorizer(store),
    settled: housekeeping.settled,
    stop: housekeeping.stop,
  };
}
