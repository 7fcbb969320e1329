/** @tenure/etcd/internal: for the other packages of tenure. It may change with any release. */
export { Connection, type OpenClient } from "./connection.ts";
export { detailsOf, failureFromError } from "./server-error.ts";
export {
  authenticate,
  compareModRevision,
  deletion,
  grantLease,
  type KeyValue,
  memberStatus,
  type RangeResponse,
  range,
  type TxnRequest,
  type TxnResponse,
  txn,
  type WatchResponse,
  watch,
} from "./wire/messages.ts";
