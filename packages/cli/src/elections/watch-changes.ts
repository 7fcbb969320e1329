/** Follows elections and reports every change of each. Renewals are not changes; that a lease expires is one. */
import { after, type Clock } from "@tenure/base";
import type { KubeError } from "@tenure/kube";
import type { Reader } from "./find.ts";
import { follow } from "./follow.ts";
import { type Change, History } from "./history.ts";
import type { LockKind } from "./lock-object.ts";
import { isElection } from "./other-leases.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Watched {
  readonly namespace: string;
  readonly name: string;
  readonly history: History;
  /** Undefined after the lock was deleted. */
  state?: ElectionState;
}

export interface WatchOptions {
  readonly kinds: readonly LockKind[];
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined for all names. */
  readonly name?: string | undefined;
  /** A label selector. */
  readonly selector?: string | undefined;
  /** Include the heartbeats of nodes, although they are not elections. */
  readonly withNodes?: boolean;
  /** States that are known already, and that are not reported as changes. */
  readonly known?: readonly ElectionState[];
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How often to call `onTick` if nothing happens. Undefined: only after changes. */
  readonly tickMs?: number | undefined;
  /** Called with everything that is seen, renewals included. */
  onState?(state: ElectionState): void;
  onDeleted?(namespace: string, name: string): void;
  onChange(watched: Watched, change: Change): void;
  /** Called after every event, and at the interval of `tickMs`. */
  onTick?(elections: readonly Watched[]): void;
  onUp?(): void;
  onDown?(error: KubeError): void;
}

export interface ChangeWatch {
  /** Resolves when the signal aborts. Rejects if access is denied. */
  readonly ended: Promise<void>;
  /** Calls `onTick` now. */
  tick(): void;
}

export function watchChanges(reader: Reader, options: WatchOptions): ChangeWatch {
  const { clock, signal, namespace, name, tickMs = Number.POSITIVE_INFINITY } = options;
  const elections = new Map<string, Watched>();
  const nowMs = () => clock.now().monoMs;
  let cancelTimer = () => {};

  const watchedFor = (kind: LockKind, of: { namespace: string; name: string }): Watched => {
    const key = `${kind}/${of.namespace}/${of.name}`;
    const watched = elections.get(key) ?? { namespace: of.namespace, name: of.name, history: new History() };
    elections.set(key, watched);
    return watched;
  };
  const report = (watched: Watched, changes: readonly Change[]) => {
    for (const change of changes) options.onChange(watched, change);
  };
  /** The watch does not report that a lease expires, so a timer does. */
  const tick = () => {
    cancelTimer();
    const now = nowMs();
    for (const watched of elections.values()) {
      const changes = watched.history.tick(now);
      const { state } = watched;
      // The same object means something else now.
      if (changes.length > 0 && state)
        watched.state = stateOf(state.kind, state.object, reader.serverClock.nowMs()) ?? state;
      report(watched, changes);
    }
    options.onTick?.([...elections.values()]);
    const next = Math.min(
      ...[...elections.values()].map(({ history }) => history.expiresAtMs ?? Number.POSITIVE_INFINITY),
      now + tickMs,
    );
    if (Number.isFinite(next) && !signal.aborted)
      cancelTimer = after(clock, Math.max(1, next - nowMs()), tick);
  };

  for (const state of options.known ?? []) {
    const watched = watchedFor(state.kind, state);
    watched.state = state;
    watched.history.observe(state, nowMs());
  }
  const followKind = (kind: LockKind) =>
    follow(reader, {
      kind,
      namespace,
      name,
      selector: options.selector,
      signal,
      onState(state) {
        const withHeartbeats = options.withNodes === true || namespace === state.namespace;
        if (name === undefined && !isElection(state, { withHeartbeats })) return;
        options.onState?.(state);
        const watched = watchedFor(kind, state);
        watched.state = state;
        report(watched, watched.history.observe(state, nowMs()));
        tick();
      },
      onDeleted(of, named) {
        options.onDeleted?.(of, named);
        const watched = watchedFor(kind, { namespace: of, name: named });
        delete watched.state;
        report(watched, watched.history.deleted(nowMs()));
        tick();
      },
      onUp: () => options.onUp?.(),
      onDown: (error) => options.onDown?.(error),
    });
  tick();
  const ended = Promise.all(options.kinds.map(followKind))
    .then(() => {})
    .finally(() => cancelTimer());
  return { ended, tick };
}
