/** Opens a store, in memory or on disk. */
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
