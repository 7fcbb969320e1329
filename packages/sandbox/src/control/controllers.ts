/**
 * The few controllers that clients of the API rely on: they delete the content of deleted namespaces and the dependents
 * of deleted owners, create the "default" ServiceAccount of each namespace, expire events, and choose the leaders of coordinated
 * elections. They run asynchronously, as in Kubernetes, so clients see their effects a moment later.
 *
 * The controllers of workloads and the scheduler are in the package cluster.
 */
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import type { StoreEvent } from "../store/types.ts";
import { coordinateElections } from "./coordinate-elections.ts";
import { expireEvents } from "./expire-events.ts";
import { GarbageCollector } from "./garbage-collector.ts";
import { finishNamespace, isNamespaceKey, provideServiceAccount } from "./namespaces.ts";

interface Controllers {
  settled(): Promise<void>;
  stop(): void;
}

/** Most events are updates that no controller reacts to, such as the renewal of a lease. */
function concernsControllers({ type, object }: StoreEvent): boolean {
  const { deletionTimestamp, ownerReferences } = object.value.metadata;
  return (
    type === "DELETED" ||
    deletionTimestamp !== undefined ||
    ownerReferences !== undefined ||
    isNamespaceKey(object.key)
  );
}

export function startControllers(store: Store, platform: Platform): Controllers {
  const collector = new GarbageCollector(store, platform);
  let queue: Promise<unknown> = Promise.resolve();
  // A failed task is dropped: either the store is closing, or the next event of the object causes another attempt.
  const run = (task: () => Promise<unknown>) => {
    queue = queue.then(task).catch(() => undefined);
  };

  const elections = coordinateElections(store, platform, run);

  const onEvent = (event: StoreEvent) => {
    collector.index(event);
    if (elections.concerns(event)) run(() => elections.onEvent(event));
    if (!concernsControllers(event)) return;
    run(async () => {
      await provideServiceAccount(store, platform, event);
      await finishNamespace(store, platform, event);
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
      elections.stop();
    },
  };
}
