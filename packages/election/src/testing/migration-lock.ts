/** A MigrationLock with a ConfigMap and a Lease in memory. */
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import { recordOf } from "@tenure/testkit";
import { ConfigMapLock, leaderAnnotation } from "../locks/annotation-lock.ts";
import { LeaseLock } from "../locks/lease-lock.ts";
import { MigrationLock } from "../locks/migration-lock.ts";
import { FakeApi } from "./fake-api.ts";

export const { signal } = new AbortController();
export const fromPath = "/api/v1/namespaces/ns/configmaps/lock";
export const toPath = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";
export const unknown = "leaderelection.k8s.io/unknown";
export const released = recordOf("", { leaseDurationSeconds: 1, acquireTime: "t", renewTime: "t" });
export const mine = recordOf("me", { renewTime: "2030-01-01T00:00:00.000001Z" });

export function open(from?: LeaderRecord, to?: LeaderRecord) {
  const api = new FakeApi();
  api.isLive = true;
  const options = { name: "lock", namespace: "ns", client: api.client };
  const lock = new MigrationLock({ from: new ConfigMapLock(options), to: new LeaseLock(options) });
  const put = {
    from: ({ leaseTransitions, ...rest }: LeaderRecord) =>
      api.put(fromPath, {
        metadata: {
          annotations: {
            [leaderAnnotation]: JSON.stringify({ ...rest, leaderTransitions: leaseTransitions }),
          },
        },
      }),
    to: (spec: LeaderRecord) => api.put(toPath, { metadata: {}, spec }),
  };
  if (from) put.from(from);
  if (to) put.to(to);
  /** The requests since the last call: "GET from", "PUT to". */
  const newRequests = () =>
    api.requests
      .splice(0)
      .map(({ method, path }) => `${method} ${path.includes("configmaps") ? "from" : "to"}`);
  return { api, lock, put, newRequests };
}

export async function view(lock: MigrationLock): Promise<LockView> {
  return found(await lock.read(signal));
}

export function found(answer: Answer): LockView {
  if (answer.kind !== "found") throw new Error(`not found but ${JSON.stringify(answer)}`);
  return answer.view;
}
