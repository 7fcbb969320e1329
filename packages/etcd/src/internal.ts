/** @tenure/etcd/internal: for the other packages of tenure. It may change with any release. */
export { Connection } from "./connection.ts";
export { detailsOf } from "./server-error.ts";
export {
  compareModRevision,
  deletion,
  type KeyValue,
  range,
  txn,
  type WatchResponse,
  watch,
} from "./wire/messages.ts";
