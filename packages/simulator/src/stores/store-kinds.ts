/** The stores that hold a lock without Kubernetes. */
export const storeKinds = ["etcd", "PostgreSQL"] as const;
export type StoreKind = (typeof storeKinds)[number];

export function isStoreKind(kind: string): kind is StoreKind {
  return (storeKinds as readonly string[]).includes(kind);
}
