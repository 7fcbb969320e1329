/** What a lock sends: other clients, client-go above all, must find the record where they expect it. */
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import type { KubeRequest } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import { FakeApi } from "../testing/fake-api.ts";
import { ConfigMapLock, EndpointsLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";

const record: LeaderRecord = {
  holderIdentity: "a",
  leaseDurationSeconds: 15,
  acquireTime: "2030-01-01T00:00:00.123456Z",
  renewTime: "2030-01-01T00:00:03.654321Z",
  leaseTransitions: 2,
};
const { leaseTransitions, ...fields } = record;
const inAnnotation = {
  "control-plane.alpha.kubernetes.io/leader": JSON.stringify({
    ...fields,
    leaderTransitions: leaseTransitions,
  }),
};
const metadata = { name: "lock", namespace: "ns" };

function seen(answer: Answer): LockView {
  if (answer.kind !== "found") throw new Error(`not found but ${answer.kind}`);
  return answer.view;
}

describe("a new object", () => {
  it.each([
    [
      "Lease",
      LeaseLock,
      "/apis/coordination.k8s.io/v1/namespaces/ns/leases",
      { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: record },
    ],
    [
      "ConfigMap",
      ConfigMapLock,
      "/api/v1/namespaces/ns/configmaps",
      { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, annotations: inAnnotation } },
    ],
    [
      "Endpoints",
      EndpointsLock,
      "/api/v1/namespaces/ns/endpoints",
      { apiVersion: "v1", kind: "Endpoints", metadata: { ...metadata, annotations: inAnnotation } },
    ],
  ])("of the kind %s is what client-go would create", async (_kind, Lock, path, body) => {
    const api = new FakeApi();
    const lock = new Lock({ name: "lock", namespace: "ns", client: api.client });
    await lock.write(record, undefined, new AbortController().signal);
    expect(api.requests).toMatchObject([{ method: "POST", path, body }]);
  });
});

describe("every request", () => {
  const path = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";
  const order = { "tenure.dev/transfer": "2/b" };

  it.each<[string, (lock: LeaseLock, view: LockView, signal: AbortSignal) => Promise<unknown>, number]>([
    ["read", (lock, _view, signal) => lock.read(signal, 20_000), 21_000],
    ["update", (lock, view, signal) => lock.write(record, view, signal, 20_000), 21_000],
    ["create", (lock, _view, signal) => lock.write(record, undefined, signal, 20_000), 21_000],
    ["acceptance", (lock, view, signal) => lock.acceptTransfer(view, signal, 20_000), 21_000],
    ["short read", (lock, _view, signal) => lock.read(signal, 2_500), 10_000],
  ])(
    "is ended by the caller's signal, and a second after the caller's limit: %s",
    async (_what, send, limitMs) => {
      const api = new FakeApi();
      api.put(path, { metadata: { namespace: "ns", annotations: order }, spec: record });
      const lock = new LeaseLock({ name: "lock", namespace: "ns", client: api.client });
      const view = seen(await lock.read(new AbortController().signal));
      const sent: KubeRequest[] = [];
      api.fail = (request) => void sent.push(request);
      const { signal } = new AbortController();
      await send(lock, view, signal);
      expect(sent.map(({ timeoutMs }) => timeoutMs)).toEqual([limitMs]);
      expect(sent[0]?.signal).toBe(signal);
    },
  );

  it("of an announcement is ended by the caller's signal", async () => {
    const api = new FakeApi();
    const lock = new LeaseLock({ name: "lock", namespace: "ns", client: api.client });
    const sent: KubeRequest[] = [];
    api.fail = (request) => void sent.push(request);
    const { signal } = new AbortController();
    await lock.announce("became leader", undefined, signal).catch(() => {});
    expect(sent.map((request) => request.signal === signal)).toEqual([true, true]);
  });
});
