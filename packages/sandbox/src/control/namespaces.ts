/** Creates the "default" ServiceAccount of each namespace, and deletes the content of deleted namespaces. */
import { ensureServiceAccount } from "../access/service-account-credentials.ts";
import { type Kind, keyOf, prefixOf } from "../objects/kind.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { pod } from "../objects/kinds/pod.ts";
import { kinds } from "../objects/kinds.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import type { StoreEvent } from "../store/types.ts";
import { deleteByController } from "./garbage-collector.ts";
import { type Left, withConditions } from "./namespace-conditions.ts";

const namespacePrefix = prefixOf(namespace, "");

export const isNamespaceKey = (key: string) => key.startsWith(namespacePrefix);

export async function provideServiceAccount(
  store: Store,
  platform: Platform,
  event: StoreEvent,
): Promise<void> {
  const missing =
    isNamespaceKey(event.object.key) ||
    (event.type === "DELETED" &&
      event.object.key.startsWith(prefixOf(serviceAccount, "")) &&
      event.object.value.metadata.name === "default");
  if (!missing) return;
  const { name = "", namespace: space } = event.object.value.metadata;
  const target = space ?? name;
  const found = store.get(keyOf(namespace, "", target));
  if (!found || found.value.metadata.deletionTimestamp) return;
  await ensureServiceAccount(store, platform, target, "default");
}

/**
 * Deletes the content of a namespace that is being deleted, and the namespace itself when it is empty. Pods come first,
 * and the rest waits for them: they may need it while they stop.
 */
export async function finishNamespace(store: Store, platform: Platform, event: StoreEvent): Promise<void> {
  const { key, value } = event.object;
  const name = isNamespaceKey(key)
    ? value.metadata.name
    : event.type === "DELETED"
      ? value.metadata.namespace
      : undefined;
  if (!name) return;
  const found = store.get(keyOf(namespace, "", name));
  if (!found?.value.metadata.deletionTimestamp) return;

  const left = await deleteAll(store, platform, pod, name);
  if (left.length === 0) {
    for (const kind of kinds) {
      if (kind.namespaced && !kind.convert) left.push(...(await deleteAll(store, platform, kind, name)));
    }
  }
  if (left.length > 0) {
    await store.commit(found.key, (current) => current && withConditions(current.value, left, platform));
    return;
  }
  await store.commit(found.key, (current) => {
    if (!current?.value.metadata.deletionTimestamp) return undefined;
    return current.value.metadata.finalizers?.length ? undefined : "delete";
  });
}

/** Returns the objects that are left, because something holds them. */
async function deleteAll(store: Store, platform: Platform, kind: Kind, space: string): Promise<Left[]> {
  const prefix = prefixOf(kind, space);
  for (const { key } of store.list(prefix))
    await store.commit(key, (current) => current && deleteByController(current.value, platform));
  const resource = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return store.list(prefix).map(({ value }) => ({ resource, finalizers: value.metadata.finalizers ?? [] }));
}
