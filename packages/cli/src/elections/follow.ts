/** Follows the locks of a name, a namespace or a cluster, and tells every state of each. Heals itself as the watch below it does. */
import { KubeError } from "@tenure/kube";
import { listLocks, type Reader, serverNowMs } from "./find.ts";
import { collectionPath, type LockKind, type LockObject } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Following {
  readonly kind: LockKind;
  /** Undefined for all. */
  readonly namespace: string | undefined;
  /** Undefined for all. */
  readonly name?: string | undefined;
  readonly signal: AbortSignal;
  onState(state: ElectionState): void;
  onDeleted(namespace: string, name: string): void;
  /** The connection is back, or there for the first time. */
  onUp?(): void;
  /** No connection; it is tried again. */
  onDown?(error: KubeError): void;
}

/** The API server sends a bookmark about every minute; a stream that is silent for longer is dead. */
const silentWatchMs = 150_000;

/** Resolves when the signal aborts; rejects when only a person can mend what is wrong, with what that is. */
export async function follow(reader: Reader, following: Following): Promise<void> {
  const { kind, namespace, name, signal } = following;
  const known = new Map<string, readonly [string, string]>();
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  let fatal: unknown;
  let wasUp = false;

  const keyOf = (object: LockObject) => `${object.metadata.namespace}/${object.metadata.name}`;
  const gone = (key: string) => {
    const where = known.get(key);
    known.delete(key);
    if (where) following.onDeleted(...where);
  };
  const seen = (state: ElectionState) => {
    known.set(keyOf(state.object), [state.namespace, state.name]);
    following.onState(state);
  };
  /** Deletions in a gap of the watch are not told. */
  const compare = async () => {
    const present = await listLocks(reader, namespace, kind);
    const keys = new Set(present.map(({ object }) => keyOf(object)));
    for (const key of [...known.keys()]) if (!keys.has(key) && !ended.aborted) gone(key);
  };

  const watching = reader.client.watch<LockObject>({
    path: collectionPath(kind, namespace),
    query: name === undefined ? {} : { fieldSelector: `metadata.name=${name}` },
    signal: ended,
    idleMs: silentWatchMs,
    onUp({ resumed }) {
      if (wasUp && !resumed) void compare().catch(() => {});
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
      const state = type === "DELETED" ? undefined : stateOf(kind, object, serverNowMs(reader));
      // A ConfigMap that lost its annotation is no lock any more.
      if (state === undefined) gone(keyOf(object));
      else seen(state);
    },
  });
  await watching;
  if (fatal instanceof KubeError) throw fatal;
}
