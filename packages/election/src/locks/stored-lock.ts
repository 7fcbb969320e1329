/**
 * A lock in a store that is not Kubernetes. It has the same two parts as a lock object: the record, and annotations with the
 * orders of an operator. For G3, a write sends back everything that was read, with only the record or one annotation changed.
 */
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import type { Lock } from "../lock.ts";
import { formatTransfer, orderAnnotations, ordersFrom } from "./orders.ts";
import { readRecord, UnreadableRecord } from "./record-fields.ts";

export interface StoredLock {
  readonly record: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Annotations to set. Null removes one. */
export type AnnotationChanges = Readonly<Record<string, string | null>>;

/** A lock in a store, with what an operator needs beyond what a candidate needs. */
export interface OperableLock extends Lock {
  /** Changes annotations, if the lock is still exactly `over`. Never rejects. */
  annotate(over: LockView, changes: AnnotationChanges, signal: AbortSignal): Promise<Answer>;
  /** All locks of the store, by name. Rejects if they cannot be read. */
  list(signal: AbortSignal): Promise<ReadonlyMap<string, LockView>>;
  /** What is allowed but not advisable about the store: one sentence each, with what to do. */
  hints?(signal: AbortSignal): Promise<readonly string[]>;
}

/** The lock as it was read from the store. Throws `UnreadableRecord` if it is not a lock. */
export function readStoredLock(value: unknown): StoredLock {
  if (!isObject(value)) throw new UnreadableRecord(`the lock is not a JSON object: ${shorten(value)}`);
  const { record = {}, annotations = {} } = value;
  if (!isObject(record)) throw new UnreadableRecord(`the record is not a JSON object: ${shorten(record)}`);
  if (!isObject(annotations))
    throw new UnreadableRecord(`the annotations are not a JSON object: ${shorten(annotations)}`);
  return { ...value, record, annotations: annotations as Record<string, string> };
}

export function viewOfStored(uid: string, revision: bigint, stored: StoredLock): LockView {
  const { leaseTransitions, ...rest } = stored.record;
  const record = readRecord({ ...rest, transitions: leaseTransitions });
  const orders = ordersFrom(textsIn(stored.annotations));
  return { uid, version: String(revision), revision, record, ...(orders && { orders }), object: stored };
}

/** The lock with another record. Fields of the record that tenure does not know are kept. */
export function withRecord(over: LockView | undefined, record: LeaderRecord): StoredLock {
  const before = (over?.object ?? { record: {}, annotations: {} }) as StoredLock;
  return { ...before, record: { ...before.record, ...record } };
}

/** The lock with its transfer accepted; undefined if no transfer is ordered. */
export function withAcceptedTransfer(over: LockView): StoredLock | undefined {
  const { transfer } = over.orders ?? {};
  if (!transfer) return undefined;
  const before = over.object as StoredLock;
  const accepted = { [orderAnnotations.transferAccepted]: formatTransfer(transfer) };
  return { ...before, annotations: { ...before.annotations, ...accepted } };
}

export function withAnnotations(over: LockView, changes: AnnotationChanges): StoredLock {
  const before = over.object as StoredLock;
  const annotations = Object.entries({ ...before.annotations, ...changes });
  const kept = annotations.filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...before, annotations: Object.fromEntries(kept) };
}

/** An operator can write any JSON. A value that is not a text is no order. */
function textsIn(annotations: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shorten(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 80);
}
