/** The record in each kind of object. A write changes nothing else in the object (G3). */
import type { LeaderRecord } from "@tenure/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeApi } from "../testing/fake-api.ts";
import { ConfigMapLock, EndpointsLock, leaderAnnotation } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";
import type { ObjectLock, ObjectLockOptions } from "./object-lock.ts";

const record: LeaderRecord = {
  holderIdentity: "a",
  leaseDurationSeconds: 15,
  acquireTime: "2030-01-01T00:00:00.123456Z",
  renewTime: "2030-01-01T00:00:03.654321Z",
  leaseTransitions: 2,
};
const { signal } = new AbortController();

interface Kind {
  readonly name: string;
  readonly path: string;
  make(options: Partial<ObjectLockOptions>): ObjectLock;
  /** An object of this kind that holds this record beside other things. */
  withRecord(fields: object): object;
  readonly foreign: object;
}

const annotatedKind = (
  name: string,
  plural: string,
  Lock: typeof ConfigMapLock | typeof EndpointsLock,
  foreign: object,
): Kind => ({
  name,
  path: `/api/v1/namespaces/ns/${plural}/lock`,
  make: (options) => new Lock({ name: "lock", namespace: "ns", ...options }),
  withRecord: ({ leaseTransitions, ...fields }: { leaseTransitions?: unknown }) => ({
    metadata: {
      namespace: "ns",
      annotations: { [leaderAnnotation]: JSON.stringify({ ...fields, leaderTransitions: leaseTransitions }) },
    },
  }),
  foreign,
});

const kinds: Kind[] = [
  {
    name: "Lease",
    path: "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock",
    make: (options) => new LeaseLock({ name: "lock", namespace: "ns", ...options }),
    withRecord: (fields) => ({ metadata: { namespace: "ns" }, spec: fields }),
    foreign: { status: { someday: true } },
  },
  annotatedKind("ConfigMap", "configmaps", ConfigMapLock, {
    data: { "config.yaml": "x: 1" },
    binaryData: { b: "AA==" },
    immutable: false,
  }),
  annotatedKind("Endpoints", "endpoints", EndpointsLock, {
    subsets: [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }],
  }),
];

describe.each(kinds)("a lock in a $name", ({ name, path, make, withRecord, foreign }) => {
  const open = (options: Partial<ObjectLockOptions> = {}) => {
    const api = new FakeApi();
    return { api, lock: make({ client: api.client, ...options }) };
  };
  const viewOf = async (lock: ObjectLock) => {
    const answer = await lock.read(signal);
    if (answer.kind !== "found") throw new Error(`not found but ${JSON.stringify(answer)}`);
    return answer.view;
  };

  it("is absent at first", async () => {
    expect(await open().lock.read(signal)).toEqual({ kind: "absent" });
  });

  it("is created with the record, and is read back as it was written", async () => {
    const { api, lock } = open({ labels: { app: "x" } });
    const answer = await lock.write(record, undefined, signal);
    expect(answer).toMatchObject({ kind: "found", view: { record } });
    expect(api.requests.map(({ method }) => method)).toEqual(["POST"]);
    expect(api.objects.get(path)).toMatchObject({
      kind: name,
      metadata: { name: "lock", labels: { app: "x" } },
    });
    expect((await viewOf(lock)).record).toEqual(record);
  });

  it("is created in its namespace, without labels by default", async () => {
    const { api, lock } = open();
    await lock.write(record, undefined, signal);
    expect(api.requests[0]?.body).toMatchObject({ metadata: { name: "lock", namespace: "ns" } });
    expect(api.requests[0]?.body).not.toHaveProperty("metadata.labels");
  });

  it("has its resourceVersion as its revision", async () => {
    const { api, lock } = open();
    api.put(path, withRecord(record));
    const { revision, version, uid } = await viewOf(lock);
    expect(String(revision)).toBe(version);
    expect(typeof revision).toBe("bigint");
    expect(uid).toMatch(/^uid-/);
  });

  it("writes the whole object with only the record changed", async () => {
    const { api, lock } = open();
    const { metadata, ...rest } = withRecord({ ...record, holderIdentity: "b" }) as { metadata: object };
    const before = api.put(path, {
      ...rest,
      ...foreign,
      unknownTopLevel: [1, { deep: null }],
      metadata: {
        ...metadata,
        annotations: { ...(metadata as { annotations?: object }).annotations, "other.io/x": "1" },
        labels: { team: "y" },
        finalizers: ["z.io/keep"],
        ownerReferences: [{ uid: "o" }],
        managedFields: [{ manager: "kubectl" }],
      },
    });
    const answer = await lock.write(record, await viewOf(lock), signal);
    expect(answer.kind).toBe("found");
    const after = structuredClone(api.objects.get(path)) as typeof before;
    expect((await viewOf(lock)).record).toEqual(record);
    const withoutRecord = (object: typeof before): object => {
      const { spec, metadata, ...others } = object;
      const { annotations, resourceVersion, ...meta } = metadata;
      const { [leaderAnnotation]: _leader, ...otherAnnotations } = annotations ?? {};
      return { ...others, metadata: { ...meta, annotations: otherAnnotations } };
    };
    expect(withoutRecord(after)).toEqual(withoutRecord(before));
  });

  it("keeps unknown fields of the record: strategy, preferredHolder, and future ones", async () => {
    const { api, lock } = open();
    const extra = { strategy: "OldestEmulationVersion", preferredHolder: "c", future: { x: [1] } };
    api.put(path, withRecord({ ...record, ...extra, holderIdentity: "b" }));
    await lock.write(record, await viewOf(lock), signal);
    const { spec, metadata } = api.objects.get(path) as { spec?: object; metadata: { annotations?: object } };
    const json = (metadata.annotations as Record<string, string> | undefined)?.[leaderAnnotation];
    expect(json === undefined ? spec : JSON.parse(json)).toMatchObject({ ...extra, holderIdentity: "a" });
  });

  it("adds its labels and keeps the others", async () => {
    const { api, lock } = open({ labels: { app: "x", tier: "1" } });
    api.put(path, { ...withRecord(record), metadata: { labels: { app: "old", team: "y" } } });
    await lock.write(record, await viewOf(lock), signal);
    expect(api.objects.get(path)?.metadata.labels).toEqual({ app: "x", tier: "1", team: "y" });
  });

  it("rejects a write over an object that has changed or was deleted", async () => {
    const { api, lock } = open();
    api.put(path, withRecord(record));
    const view = await viewOf(lock);
    api.put(path, withRecord({ ...record, holderIdentity: "b" }));
    expect(await lock.write(record, view, signal)).toEqual({ kind: "conflict" });
    expect(await lock.write(record, undefined, signal)).toEqual({ kind: "conflict" });
    api.objects.delete(path);
    expect(await lock.write(record, view, signal)).toEqual({ kind: "absent" });
    expect(api.objects.size).toBe(0);
  });

  it("without a record is held by nobody, and can be acquired", async () => {
    const { api, lock } = open();
    api.put(path, { metadata: { namespace: "ns" } });
    const view = await viewOf(lock);
    expect(view.record).toMatchObject({
      holderIdentity: "",
      leaseDurationSeconds: undefined,
      leaseTransitions: 0,
    });
    expect(await lock.write(record, view, signal)).toMatchObject({ kind: "found" });
  });

  it("with a holder that is not a string is unreadable, and is not overwritten", async () => {
    const { api, lock } = open();
    api.put(path, withRecord({ ...record, holderIdentity: 7 }));
    expect(await lock.read(signal)).toEqual({
      kind: "failed",
      failure: { kind: "unreadable", message: "holderIdentity is not a string: 7" },
    });
    expect(api.requests.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("reads back any record that it writes", async () => {
    const text = fc.string({ minLength: 1, maxLength: 253 });
    const int32 = fc.integer({ min: 0, max: 2_147_483_647 });
    const anyRecord = fc.record({
      holderIdentity: fc.oneof(text, fc.constant("")),
      leaseDurationSeconds: int32.map((n) => Math.max(n, 1)),
      acquireTime: text,
      renewTime: text,
      leaseTransitions: int32,
    });
    await fc.assert(
      fc.asyncProperty(anyRecord, anyRecord, async (first, second) => {
        const { lock } = open();
        const created = await lock.write(first, undefined, signal);
        if (created.kind !== "found") throw new Error(created.kind);
        expect(created.view.record).toEqual(first);
        const updated = await lock.write(second, created.view, signal);
        expect(updated).toMatchObject({ kind: "found", view: { record: second } });
      }),
      { numRuns: 50 },
    );
  });
});

describe("the holder that the API server prefers", () => {
  const path = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";
  const open = (spec: object) => {
    const api = new FakeApi();
    api.put(path, { metadata: { namespace: "ns" }, spec: { ...record, ...spec } });
    return { api, lock: new LeaseLock({ name: "lock", namespace: "ns", client: api.client }) };
  };

  it("is read from a Lease", async () => {
    const answer = await open({ preferredHolder: "b" }).lock.read(signal);
    expect(answer).toMatchObject({ view: { preferredHolder: "b" } });
  });

  it.each([{}, { preferredHolder: "" }, { preferredHolder: null }, { preferredHolder: 7 }])(
    "is nobody with %j",
    async (spec) => {
      expect(await open(spec).lock.read(signal)).not.toHaveProperty("view.preferredHolder");
    },
  );

  it("is removed with a release, because the wish is fulfilled then", async () => {
    const { api, lock } = open({ preferredHolder: "b", strategy: "OldestEmulationVersion" });
    const answer = await lock.read(signal);
    if (answer.kind !== "found") throw new Error(answer.kind);
    await lock.write({ ...record, holderIdentity: "" }, answer.view, signal);
    const spec = api.objects.get(path)?.spec;
    expect(spec).toMatchObject({ holderIdentity: "", strategy: "OldestEmulationVersion" });
    expect(spec).not.toHaveProperty("preferredHolder");
  });
});

describe("the annotation of a legacy lock", () => {
  const path = "/api/v1/namespaces/ns/configmaps/lock";
  const open = (json: string) => {
    const api = new FakeApi();
    api.put(path, { metadata: { namespace: "ns", annotations: { [leaderAnnotation]: json } } });
    return { api, lock: new ConfigMapLock({ name: "lock", namespace: "ns", client: api.client }) };
  };

  it.each(["", "garbage", "{", "null", "[]", "7", '"a"', "true"])(
    "that is %j is unreadable",
    async (json) => {
      const { api, lock } = open(json);
      expect(await lock.read(signal)).toEqual({
        kind: "failed",
        failure: {
          kind: "unreadable",
          message:
            `the annotation ${leaderAnnotation} of ConfigMap ns/lock is not a JSON object: ${JSON.stringify(json)}. ` +
            "Correct it, or remove it when no candidate leads",
        },
      });
      expect(api.objects.get(path)?.metadata.annotations).toEqual({ [leaderAnnotation]: json });
    },
  );

  it("is shortened in the message if it is long", async () => {
    const answer = await open("x".repeat(10_000)).lock.read(signal);
    expect(JSON.stringify(answer).length).toBeLessThan(400);
  });

  it("is read as client-go writes it: leaderTransitions, and times in whole seconds", async () => {
    const json =
      '{"holderIdentity":"pod-1","leaseDurationSeconds":15,"acquireTime":"2024-01-01T10:00:00Z","renewTime":"2024-01-01T10:00:10Z","leaderTransitions":4}';
    expect(await open(json).lock.read(signal)).toMatchObject({
      view: {
        record: {
          holderIdentity: "pod-1",
          leaseDurationSeconds: 15,
          acquireTime: "2024-01-01T10:00:00Z",
          renewTime: "2024-01-01T10:00:10Z",
          leaseTransitions: 4,
        },
      },
    });
  });

  it("is written with client-go's field names", async () => {
    const { api, lock } = open("{}");
    const answer = await lock.read(signal);
    if (answer.kind === "found") await lock.write(record, answer.view, signal);
    expect(JSON.parse(api.objects.get(path)?.metadata.annotations?.[leaderAnnotation] ?? "")).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: record.acquireTime,
      renewTime: record.renewTime,
      leaderTransitions: 2,
    });
  });
});
