/** Deletes events after an hour, as Kubernetes does. Otherwise a sandbox that runs for weeks would only grow. */
import { after } from "@tenure/base";
import { prefixOf } from "../objects/kind.ts";
import { event } from "../objects/kinds/event.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";

const eventTtlMs = 60 * 60 * 1000;
const sweepIntervalMs = 60 * 1000;

export function expireEvents(
  store: Store,
  platform: Platform,
  run: (task: () => Promise<unknown>) => void,
): () => void {
  /** When each event was last written, by our clock: the times in an event come from the client. */
  const writtenMs = new Map<string, { revision: number; atMs: number }>();
  let cancel: () => void;
  const sweep = () => {
    const now = platform.clock.now().monoMs;
    const present = store.list(prefixOf(event, ""));
    const keys = new Set(present.map(({ key }) => key));
    for (const key of writtenMs.keys()) if (!keys.has(key)) writtenMs.delete(key);
    for (const { key, revision } of present) {
      const known = writtenMs.get(key);
      if (known?.revision !== revision) writtenMs.set(key, { revision, atMs: now });
      else if (now - known.atMs > eventTtlMs) run(() => store.commit(key, () => "delete"));
    }
    cancel = after(platform.clock, sweepIntervalMs, sweep);
  };
  cancel = after(platform.clock, sweepIntervalMs, sweep);
  return () => cancel();
}
