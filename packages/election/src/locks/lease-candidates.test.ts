import { type KubeClient, KubeError, type KubeRequest, type WatchRequest } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import type { CoordinationObserver } from "../lock.ts";
import { LeaseCandidates } from "./lease-candidates.ts";
import type { KubeObject } from "./object-kind.ts";

const root = "/apis/coordination.k8s.io/v1beta1";
const collection = `${root}/namespaces/prod/leasecandidates`;
const candidate = {
  identity: "pod-b",
  version: "1.2.3",
  emulationVersion: "1.2.0",
  strategy: "OldestEmulationVersion",
  renewMs: Date.parse("2030-01-02T03:04:05.678Z"),
} as const;

function world(fail: (request: { method: string }) => KubeError | undefined = () => undefined) {
  const requests: KubeRequest[] = [];
  const watches: WatchRequest<KubeObject>[] = [];
  const failIf = (error: KubeError | undefined) => {
    if (error) throw error;
  };
  const client = {
    request: async (request: KubeRequest) => {
      requests.push(request);
      failIf(fail(request));
      return {};
    },
    watch: async (request: WatchRequest<KubeObject>) => {
      watches.push(request);
      failIf(fail({ method: "WATCH" }));
    },
  } as unknown as KubeClient;
  const stop = new AbortController();
  const candidates = new LeaseCandidates({ client, namespace: () => "prod", lockName: "billing" });
  const sent = () => requests.map(({ method, path }) => `${method} ${path}`);
  return { candidates, requests, watches, stop, sent };
}

const notFound = new KubeError("NotFound", "not there", { status: 404, reason: "NotFound" });
const forbidden = new KubeError("Forbidden", "you may not", { status: 403 });

describe("isServed", () => {
  const served = (answer: () => unknown) => {
    const client = { request: async () => answer() } as unknown as KubeClient;
    const candidates = new LeaseCandidates({ client, namespace: () => "prod", lockName: "billing" });
    return candidates.isServed(new AbortController().signal);
  };
  const fails = (error: KubeError) => () => {
    throw error;
  };

  it.each([
    [
      "the server has LeaseCandidates",
      { resources: [{ name: "leases" }, { name: "leasecandidates" }] },
      true,
    ],
    ["the server has the version without them", { resources: [{ name: "leases" }] }, false],
    ["the server says nothing", {}, false],
  ])("%s", async (_name, answer, expected) => {
    expect(await served(() => answer)).toBe(expected);
  });

  it("is false if the server does not have the version, and unknown after any other error", async () => {
    expect(await served(fails(notFound))).toBe(false);
    await expect(served(fails(forbidden))).rejects.toBe(forbidden);
  });
});

describe("renew", () => {
  it("patches the object, with everything that the API server chooses by", async () => {
    const { requests, candidates, stop } = world();
    expect(await candidates.renew(candidate, stop.signal)).toBeUndefined();
    expect(requests).toEqual([
      expect.objectContaining({
        method: "PATCH",
        path: `${collection}/pod-b`,
        contentType: "application/merge-patch+json",
        timeoutMs: 2_000,
        body: {
          apiVersion: "coordination.k8s.io/v1beta1",
          kind: "LeaseCandidate",
          metadata: { name: "pod-b", namespace: "prod" },
          spec: {
            leaseName: "billing",
            binaryVersion: "1.2.3",
            emulationVersion: "1.2.0",
            strategy: "OldestEmulationVersion",
            renewTime: "2030-01-02T03:04:05.678000Z",
          },
        },
      }),
    ]);
  });

  it("creates the object if it is not there", async () => {
    const { candidates, stop, sent, requests } = world(({ method }) =>
      method === "PATCH" ? notFound : undefined,
    );
    expect(await candidates.renew(candidate, stop.signal)).toBeUndefined();
    expect(sent()).toEqual([`PATCH ${collection}/pod-b`, `POST ${collection}`]);
    expect(requests[1]).toMatchObject({ timeoutMs: 2_000, body: { spec: { leaseName: "billing" } } });
  });

  it("creates nothing without the right to change it, nor after it was told to stop", async () => {
    const denied = world(() => forbidden);
    expect(await denied.candidates.renew(candidate, denied.stop.signal)).toMatchObject({ kind: "denied" });
    expect(denied.sent()).toEqual([`PATCH ${collection}/pod-b`]);
    const stopped = world(() => {
      stopped.stop.abort();
      return notFound;
    });
    expect(await stopped.candidates.renew(candidate, stopped.stop.signal)).toBeUndefined();
    expect(stopped.sent()).toEqual([`PATCH ${collection}/pod-b`]);
  });

  it("says why it could not be created", async () => {
    const { candidates, stop } = world(({ method }) => (method === "PATCH" ? notFound : forbidden));
    expect(await candidates.renew(candidate, stop.signal)).toMatchObject({ kind: "denied" });
  });
});

describe("remove", () => {
  it("deletes the object. One that is gone is removed", async () => {
    const { candidates, stop, sent, requests } = world(() => notFound);
    expect(await candidates.remove("pod-b", stop.signal)).toBeUndefined();
    expect(sent()).toEqual([`DELETE ${collection}/pod-b`]);
    expect(requests[0]?.timeoutMs).toBe(2_000);
  });

  it("says why it could not be deleted", async () => {
    const { candidates, stop } = world(() => forbidden);
    expect(await candidates.remove("pod-b", stop.signal)).toMatchObject({ kind: "denied" });
  });
});

describe("watch", () => {
  function observer() {
    const seen: unknown[] = [];
    const record: CoordinationObserver = {
      observed: (pingTime) => seen.push(["observed", pingTime]),
      deleted: () => seen.push("deleted"),
      failed: ({ kind }) => seen.push(["failed", kind]),
    };
    return { seen, record };
  }

  it("follows the own object only, and reports pings and its deletion", () => {
    const { watches, candidates, stop } = world();
    const { seen, record } = observer();
    candidates.watch("pod-b", record, stop.signal);
    const [watch] = watches;
    expect(watch).toMatchObject({ path: collection, query: { fieldSelector: "metadata.name=pod-b" } });
    expect(watch?.signal).toBe(stop.signal);
    const metadata = { name: "pod-b", resourceVersion: "7" };
    watch?.onUp({ resumed: false });
    watch?.onEvent({ type: "ADDED", object: { metadata } });
    watch?.onEvent({ type: "MODIFIED", object: { metadata, spec: { pingTime: "now" } } });
    watch?.onEvent({ type: "MODIFIED", object: { metadata, spec: { pingTime: 7 } } });
    watch?.onEvent({ type: "DELETED", object: { metadata, spec: { pingTime: "now" } } });
    watch?.onDown(forbidden);
    const unknown = ["observed", undefined];
    expect(seen).toEqual([unknown, ["observed", "now"], unknown, "deleted", ["failed", "denied"]]);
  });

  it("reports a watch that ends with an error", async () => {
    const { candidates, stop } = world(() => forbidden);
    const { seen, record } = observer();
    candidates.watch("pod-b", record, stop.signal);
    await Promise.resolve();
    await Promise.resolve();
    expect(seen).toEqual([["failed", "denied"]]);
  });
});
