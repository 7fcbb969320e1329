/** Follows the locks of a name, a namespace or a cluster, and reports every state of each. The watch reconnects by itself. */
import { KubeError } from "@tenure/kube";
import { listLocks, type Reader } from "./find.ts";
import { collectionPath, type LockKind, type LockObject } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Following {
  readonly kind: LockKind;
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined for all names. */
  readonly name?: string | undefined;
  /** A label selector. */
  readonly selector?: string | undefined;
  readonly signal: AbortSignal;
  onState(state: ElectionState): void;
  onDeleted(namespace: string, name: string): void;
  /** The watch is connected, for the first time or again. */
  onUp?(): void;
  /** The connection failed. The watch tries again. */
  onDown?(error: KubeError): void;
}

/** The API server sends a bookmark about every minute, so a stream that stays silent for longer is dead. */
const silentWatchMs = 150_000;

/** Resolves when the signal aborts. Rejects if access is denied, which retrying cannot fix. */
export async function follow(reader: Reader, following: Following): Promise<void> {
  const { kind, namespace, name, selector, signal } = following;
  const known = new Map<string, readonly [string, string]>();
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  let fatal: unknown;
  let wasUp = false;

  const keyOf = (object: LockObject) => `${object.metadata.namespace}/${object.metadata.name}`;
  const reportDeleted = (key: string) => {
    const where = known.get(key);
    known.delete(key);
    if (where) following.onDeleted(...where);
  };
  const reportState = (state: ElectionState) => {
    known.set(keyOf(state.object), [state.namespace, state.name]);
    following.onState(state);
  };
  /** The watch does not report deletions that happened while it was disconnected. */
  const findDeletions = async () => {
    const present = await listLocks(reader, namespace, kind, selector);
    const keys = new Set(present.map(({ object }) => keyOf(object)));
    for (const key of [...known.keys()]) if (!keys.has(key) && !ended.aborted) reportDeleted(key);
  };

  const watching = reader.client.watch<LockObject>({
    path: collectionPath(kind, namespace),
    query: {
      ...(name !== undefined && { fieldSelector: `metadata.name=${name}` }),
      ...(selector !== undefined && { labelSelector: selector }),
    },
    signal: ended,
    idleMs: silentWatchMs,
    onUp({ resumed }) {
      if (wasUp && !resumed) void findDeletions().catch(() => {});
      wasUp = true;
      following.onUp?.();
    },
    onDown(error) {
      if (error.code === "Forbidden" || error.code === "Unauthorized") {
        fatal = error;
        stop.abort();
      } else following.onDown?.(error);
    },
    onEvent({ type, object }) {
      const state = type === "DELETED" ? undefined : stateOf(kind, object, reader.serverClock.nowMs());
      // A ConfigMap that lost its annotation is no longer a lock.
      if (state === undefined) reportDeleted(keyOf(object));
      else reportState(state);
    },
  });
  await watching;
  if (fatal instanceof KubeError) throw fatal;
}
