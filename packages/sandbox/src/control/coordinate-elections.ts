/** Runs coordinated elections: writes what coordinated-election.ts decides, for each Lease that has LeaseCandidates. */
import { after } from "@tenure/base";
import { keyOf, prefixOf, section } from "../objects/kind.ts";
import { lease, leaseCandidate } from "../objects/kinds/lease.ts";
import type { ApiObject } from "../objects/object.ts";
import { formatTime } from "../objects/time.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import type { StoreEvent } from "../store/types.ts";
import {
  decideElection,
  type ElectionAction,
  type ElectionCandidate,
  type ElectionLease,
  namedLeaseSeconds,
} from "./coordinated-election.ts";

const candidatePrefix = prefixOf(leaseCandidate, "");
const leasePrefix = prefixOf(lease, "");

interface Coordinator {
  /** Whether the event may change an election. */
  concerns(event: StoreEvent): boolean;
  onEvent(event: StoreEvent): Promise<void>;
  stop(): void;
}

export function coordinateElections(
  store: Store,
  platform: Platform,
  run: (task: () => Promise<unknown>) => void,
): Coordinator {
  const timers = new Map<string, () => void>();
  let isStopped = false;

  async function look(namespace: string, name: string): Promise<void> {
    if (isStopped) return;
    const timerKey = `${namespace}/${name}`;
    timers.get(timerKey)?.();
    timers.delete(timerKey);
    const nowMs = platform.clock.now().wallMs;
    const key = keyOf(lease, namespace, name);
    const candidates = store
      .list(prefixOf(leaseCandidate, namespace))
      .filter(({ value }) => section(value, "spec").leaseName === name);
    const current = store.get(key);
    const { actions, againMs } = decideElection(
      candidates.map(({ value }) => candidateOf(value)),
      current && leaseOf(current.value),
      nowMs,
    );
    const time = microTime(nowMs);
    for (const action of actions) {
      if (action.type === "ping") {
        await store.commit(
          keyOf(leaseCandidate, namespace, action.name),
          (found) => found && withSpec(found.value, { pingTime: time }),
        );
      } else {
        const revision = current?.revision;
        await store.commit(key, (found) => {
          // The holder was faster. Its write causes another look.
          if (found?.revision !== revision) return undefined;
          const object = found?.value ?? newLease(namespace, name, platform);
          return withSpec(object, leaseFields(action, time));
        });
      }
    }
    if (againMs === undefined || isStopped) return;
    timers.set(
      timerKey,
      after(platform.clock, againMs, () => run(() => look(namespace, name))),
    );
  }

  return {
    concerns: ({ object: { key, value } }) =>
      key.startsWith(candidatePrefix) ||
      (key.startsWith(leasePrefix) && section(value, "spec").strategy !== undefined),
    async onEvent({ object: { key, value } }) {
      const { namespace = "", name = "" } = value.metadata;
      const leaseName = key.startsWith(candidatePrefix) ? String(section(value, "spec").leaseName) : name;
      await look(namespace, leaseName);
    },
    stop() {
      isStopped = true;
      for (const cancel of timers.values()) cancel();
    },
  };
}

function newLease(namespace: string, name: string, platform: Platform): ApiObject {
  const creationTimestamp = formatTime(platform.clock.now().wallMs);
  const metadata = { name, namespace, uid: platform.uuid(), creationTimestamp };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata };
}

function leaseFields(action: Exclude<ElectionAction, { type: "ping" }>, time: string): object {
  const { holder, strategy } = action;
  if (action.type === "prefer") return { preferredHolder: holder, strategy };
  return {
    holderIdentity: holder,
    strategy,
    leaseDurationSeconds: namedLeaseSeconds,
    renewTime: time,
    acquireTime: undefined,
    preferredHolder: undefined,
  };
}

function withSpec(object: ApiObject, changes: object): ApiObject {
  const spec = { ...(object.spec as object | undefined), ...changes };
  const set = Object.entries(spec).filter(([, value]) => value !== undefined);
  return { ...object, spec: Object.fromEntries(set) };
}

function candidateOf(object: ApiObject): ElectionCandidate {
  const spec = section(object, "spec");
  const text = (value: unknown) => String(value ?? "");
  return {
    name: object.metadata.name ?? "",
    binaryVersion: text(spec.binaryVersion),
    emulationVersion: text(spec.emulationVersion),
    strategy: text(spec.strategy),
    createdMs: Date.parse(object.metadata.creationTimestamp ?? ""),
    renewMs: Date.parse(text(spec.renewTime)),
    pingMs: Date.parse(text(spec.pingTime)),
  };
}

function leaseOf(object: ApiObject): ElectionLease {
  const { holderIdentity, preferredHolder, renewTime, leaseDurationSeconds } = section(object, "spec");
  return {
    holder: String(holderIdentity ?? ""),
    preferredHolder: String(preferredHolder ?? ""),
    expiresMs: Date.parse(String(renewTime ?? "")) + Number(leaseDurationSeconds ?? 0) * 1_000,
  };
}

function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
