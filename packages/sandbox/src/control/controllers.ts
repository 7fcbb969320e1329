/**
 * The few controllers without which the API itself would look broken: content of deleted namespaces goes, so do
 * objects whose owners are gone, and each namespace has its "default" ServiceAccount. They run beside the requests, as
 * in Kubernetes: what they do is seen a moment later.
 *
 * There is no Deployment controller, scheduler or node here.
 */
import type { Platform } from "../platform.ts";
import type { Store, StoreEvent } from "../store/store.ts";
import { expireEvents } from "./expire-events.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { finishNamespace, provideServiceAccount } from "./namespaces.ts";

export interface Housekeeping {
  settled(): Promise<void>;
  stop(): void;
}

export function startHousekeeping(store: Store, platform: Platform): Housekeeping {
  const collector = new GarbageCollector(store);
  let queue: Promise<unknown> = Promise.resolve();
  // A task that fails is dropped: the store is closing, or the next event of the object brings it up again.
  const run = (task: () => Promise<unknown>) => {
    queue = queue.then(task).catch(() => undefined);
  };

  const onEvent = (event: StoreEvent) => {
    collector.note(event);
    run(async () => {
      await provideServiceAccount(store, platform, event);
      await finishNamespace(store, event);
      await collector.collect(event);
    });
  };
  const stopWatching = store.watchAll(onEvent);
  for (const stored of store.all()) {
    onEvent({ type: "ADDED", revision: stored.revision, object: stored, previous: undefined });
  }
  const stopExpiry = expireEvents(store, platform, run);

  return {
    async settled() {
      let seen: Promise<unknown> | undefined;
      while (seen !== queue) {
        seen = queue;
        await seen;
      }
    },
    stop() {
      stopWatching();
      stopExpiry();
    },
  };
}
