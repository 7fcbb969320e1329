/** @tenure/etcd: leader election on etcd, without Kubernetes. */
export type { EtcdTls } from "./connection.ts";
export { EtcdLock, type EtcdLockOptions } from "./etcd-lock.ts";
