/**
 * The parts that all API servers over one store share: CA, keys and administrator token, authenticator and authorizer,
 * the initial objects, and the controllers. They are created once per store, so that two servers over one store behave
 * like one cluster.
 */
import { type Authenticator, createAuthenticator } from "../access/authenticate.ts";
import { createAuthorizer } from "../access/authorizer.ts";
import type { KeyAndCertificate } from "../access/certificate.ts";
import { loadIdentity } from "../access/identity.ts";
import { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import type { Platform } from "../platform.ts";
import type { Cluster } from "../registry/context.ts";
import type { Store } from "../store/store.ts";
import { createInitialObjects } from "./bootstrap.ts";
import { startControllers } from "./controllers.ts";

export interface RunningCluster extends Cluster {
  authority: KeyAndCertificate;
  adminToken: string;
  authenticator: Authenticator;
  /** Resolves when the controllers have nothing left to do. */
  settled(): Promise<void>;
  stop(): void;
}

const clusters = new WeakMap<Store, Promise<RunningCluster>>();

export function openCluster(store: Store, platform: Platform): Promise<RunningCluster> {
  let cluster = clusters.get(store);
  if (!cluster) {
    cluster = open(store, platform);
    clusters.set(store, cluster);
  }
  return cluster;
}

async function open(store: Store, platform: Platform): Promise<RunningCluster> {
  const { authority, adminToken, serviceAccountKeyPem } = await loadIdentity(store, platform);
  const tokens = new ServiceAccountTokens(store, serviceAccountKeyPem, platform);
  const controllers = startControllers(store, platform);
  await createInitialObjects({ store, platform });
  await controllers.settled();
  // No watch needs to see how the initial objects were created.
  store.compact();
  return {
    store,
    platform,
    authority,
    adminToken,
    tokens,
    authenticator: createAuthenticator(adminToken, tokens),
    authorizer: createAuthorizer(store),
    settled: controllers.settled,
    stop: controllers.stop,
  };
}
