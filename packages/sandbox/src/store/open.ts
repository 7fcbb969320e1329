/** Makes a store: in memory, or on disk where there is a directory for it. */
import { openLevel } from "./level.ts";
import { Store } from "./store.ts";

/**
 * Opens a store to share between sandboxes. Whoever opens it closes it.
 * @param dataDir where to keep it @default in memory only
 */
export async function openStore(dataDir?: string): Promise<Store> {
  if (dataDir === undefined) return new Store();
  const { journal, content } = await openLevel(dataDir);
  return new Store({ journal, content });
}
