/** Opens a store: in memory, on disk, or in etcd. */

import { systemPlatform } from "../platform.ts";
import type { EtcdStoreOptions } from "./etcd-store.ts";
import { openLevel } from "./level.ts";
import { LocalStore } from "./local-store.ts";
import type { Store } from "./store.ts";

/**
 * Opens a store to share between sandboxes. The caller has to close it.
 * @param dataDir directory that keeps the data @default in memory only
 */
export async function openStore(dataDir?: string): Promise<Store> {
  return new LocalStore(dataDir === undefined ? {} : await openLevel(dataDir));
}

/**
 * Opens a store in etcd, which several sandboxes in several processes can share, and a kube-apiserver too. The caller has to
 * close it.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  // gRPC takes a while to load, and only this store needs it.
  const { openEtcdStore: open } = await import("./etcd-store.ts");
  return open(options, { clock: systemPlatform.clock, random: () => systemPlatform.random() });
}
