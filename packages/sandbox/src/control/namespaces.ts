/** A namespace gets its "default" ServiceAccount, and when it is deleted its content goes first. */
import { keyOf, prefixOf } from "../objects/kind.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { kinds } from "../objects/kinds.ts";
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { formatTime } from "../objects/time.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import type { StoreEvent } from "../store/types.ts";

const namespacePrefix = prefixOf(namespace, "");

export async function provideServiceAccount(
  store: Store,
  platform: Platform,
  event: StoreEvent,
): Promise<void> {
  const missing =
    event.object.key.startsWith(namespacePrefix) ||
    (event.type === "DELETED" &&
      event.object.key.startsWith(prefixOf(serviceAccount, "")) &&
      event.object.value.metadata.name === "default");
  if (!missing) return;
  const { name = "", namespace: space } = event.object.value.metadata;
  const target = space ?? name;
  const found = store.get(keyOf(namespace, "", target));
  if (!found || found.value.metadata.deletionTimestamp) return;
  await store.commit(keyOf(serviceAccount, target, "default"), (current) => {
    if (current) return undefined;
    const metadata = {
      name: "default",
      namespace: target,
      uid: platform.uuid(),
      creationTimestamp: formatTime(platform.wallMs()),
    };
    return { kind: "ServiceAccount", apiVersion: "v1", metadata };
  });
}

/** Deletes what is in a namespace that is going away; the namespace itself once nothing is left. */
export async function finishNamespace(store: Store, event: StoreEvent): Promise<void> {
  const { key, value } = event.object;
  const name = key.startsWith(namespacePrefix)
    ? value.metadata.name
    : event.type === "DELETED"
      ? value.metadata.namespace
      : undefined;
  if (!name) return;
  const found = store.get(keyOf(namespace, "", name));
  if (!found?.value.metadata.deletionTimestamp) return;

  let left = 0;
  for (const kind of kinds) {
    if (!kind.namespaced || kind.convert) continue;
    for (const { key: child } of store.list(prefixOf(kind, name))) {
      const after = await store.commit(child, (current) =>
        current ? markOrDelete(current.value, value) : undefined,
      );
      if (after && store.get(child)) left++;
    }
  }
  if (left > 0) return;
  await store.commit(found.key, (current) => {
    if (!current?.value.metadata.deletionTimestamp) return undefined;
    return current.value.metadata.finalizers?.length ? undefined : "delete";
  });
}

function markOrDelete(object: ApiObject, { metadata }: ApiObject) {
  if (!object.metadata.finalizers?.length) return "delete";
  if (object.metadata.deletionTimestamp) return undefined;
  return withMetadata(object, {
    deletionTimestamp: metadata.deletionTimestamp as string,
    deletionGracePeriodSeconds: 0,
  });
}
