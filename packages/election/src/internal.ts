/** @tenure/election/internal: for the other packages of tenure. It may change with any release. */
export { Candidate, type Notice } from "./candidate.ts";
export { invalidOptions } from "./errors.ts";
export { leaderAnnotation } from "./locks/annotation-lock.ts";
export {
  candidateAnnotations,
  candidateLabel,
  candidateLabelValue,
  candidateLeasePrefix,
} from "./locks/candidate-leases.ts";
export { checkLockOptions } from "./locks/object-lock.ts";
export { formatTransfer, orderAnnotations, ordersFrom } from "./locks/orders.ts";
export { UnreadableRecord } from "./locks/record-fields.ts";
export {
  type AnnotationChanges,
  type OperableLock,
  readStoredLock,
  type StoredLock,
  viewOfStored,
  withAcceptedTransfer,
  withAnnotations,
  withRecord,
} from "./locks/stored-lock.ts";
export { mapAnnotation, type SetKind, setLabels } from "./shards/lease-set-store.ts";
export { serveCandidate } from "./worker/serve.ts";
export type { Thread, WorkerSetup } from "./worker/worker-candidate.ts";
