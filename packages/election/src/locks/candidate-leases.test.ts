import { type KubeClient, KubeError, type KubeRequest } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import { CandidateLeases, candidateLabelValue, candidateLeaseName } from "./candidate-leases.ts";

const signal = new AbortController().signal;
const root = "/apis/coordination.k8s.io/v1/namespaces/prod/leases";

function world(answer: (request: KubeRequest) => unknown = () => ({})) {
  const requests: KubeRequest[] = [];
  const client = {
    request: async (request: KubeRequest) => {
      requests.push(request);
      return answer(request);
    },
  } as unknown as KubeClient;
  const leases = new CandidateLeases({ client, namespace: () => "prod", lockName: "billing" });
  const sent = () => requests.map(({ method, path }) => `${method} ${path.replace(root, "")}`);
  return { leases, requests, sent };
}

const missing = () => {
  throw new KubeError("NotFound", "not there", { status: 404 });
};
const forbidden = () => {
  const message = 'Cannot patch leases "x". Add to its Role: {resourceNames: ["x"], verbs: ["patch"]}.';
  throw new KubeError("Forbidden", message, { status: 403 });
};
const nowMs = Date.parse("2030-01-02T03:04:05.678Z");
const candidate = {
  identity: "pod-b",
  standing: { name: "waiting", reason: "pod-a leads" },
  renewMs: nowMs,
} as const;

describe("publish", () => {
  it("renews the Lease of the candidate, with what it is doing", async () => {
    const { leases, requests } = world();
    expect(await leases.publish(candidate, signal)).toBeUndefined();
    expect(requests).toEqual([
      expect.objectContaining({
        method: "PATCH",
        path: `${root}/billing.candidate.pod-b`,
        contentType: "application/merge-patch+json",
        body: expect.objectContaining({
          metadata: {
            name: "billing.candidate.pod-b",
            namespace: "prod",
            labels: { "tenure.dev/candidate-of": "billing" },
            annotations: {
              "tenure.dev/election-name": "billing",
              "tenure.dev/standing": "waiting",
              "tenure.dev/standing-reason": "pod-a leads",
            },
          },
          spec: {
            holderIdentity: "pod-b",
            leaseDurationSeconds: 150,
            renewTime: "2030-01-02T03:04:05.678000Z",
          },
        }),
      }),
    ]);
  });

  it("creates the Lease if it does not exist", async () => {
    const { leases, sent } = world(({ method }) => (method === "PATCH" ? missing() : {}));
    expect(await leases.publish(candidate, signal)).toBeUndefined();
    expect(sent()).toEqual(["PATCH /billing.candidate.pod-b", "POST "]);
  });

  it("creates nothing without the permission to change it: nobody could remove it", async () => {
    const { leases, sent } = world(forbidden);
    expect(await leases.publish(candidate, signal)).toEqual({
      kind: "denied",
      message:
        'Cannot patch leases "x". Add to its Role: {apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list", "patch", "delete"]}.',
    });
    expect(sent()).toEqual(["PATCH /billing.candidate.pod-b"]);
  });

  it("creates nothing after it was told to stop", async () => {
    const stop = new AbortController();
    const { leases, sent } = world(({ method }) => {
      stop.abort();
      return method === "PATCH" ? missing() : {};
    });
    await leases.publish(candidate, stop.signal);
    expect(sent()).toEqual(["PATCH /billing.candidate.pod-b"]);
  });

  it("shortens a reason that is too long", async () => {
    const { leases, requests } = world();
    await leases.publish({ ...candidate, standing: { name: "failing", reason: "x".repeat(9_000) } }, signal);
    expect(requests[0]?.body).toMatchObject({
      metadata: { annotations: { "tenure.dev/standing-reason": "x".repeat(400) } },
    });
  });
});

describe("withdraw", () => {
  it("deletes the Lease, and succeeds if it is gone already", async () => {
    const { leases, sent } = world(missing);
    expect(await leases.withdraw("pod-b", signal)).toBeUndefined();
    expect(sent()).toEqual(["DELETE /billing.candidate.pod-b"]);
  });

  it("can be aborted, and takes five seconds at most", async () => {
    const { leases, requests } = world();
    await leases.withdraw("pod-b", signal);
    expect(requests[0]).toMatchObject({ signal, timeoutMs: 5_000 });
  });
});

describe("sweep", () => {
  const lease = (name: string, renewTime: unknown) => ({
    metadata: { name, uid: `uid of ${name}`, resourceVersion: "7" },
    spec: { renewTime },
  });

  it("deletes exactly the Leases that were not renewed for an hour, each only as it was read", async () => {
    const { leases, requests } = world(({ method }) =>
      method === "GET"
        ? { items: [lease("old", at(-3_600_000)), lease("fresh", at(-3_599_000)), lease("odd", 7)] }
        : {},
    );
    const at = (ms: number) => new Date(nowMs + ms).toISOString();
    expect(await leases.sweep(nowMs, signal)).toBeUndefined();
    const [list, ...deletions] = requests;
    expect(list?.query).toEqual({ labelSelector: "tenure.dev/candidate-of=billing" });
    expect(deletions.map(({ path }) => path)).toEqual([`${root}/old`, `${root}/odd`]);
    expect(deletions[0]?.body).toMatchObject({ preconditions: { uid: "uid of old", resourceVersion: "7" } });
  });

  it("leaves a Lease that was renewed meanwhile, and goes on", async () => {
    const { leases, sent } = world(({ method, path }) => {
      if (method === "GET") return { items: [lease("a", undefined), lease("b", undefined)] };
      if (path.endsWith("/a")) throw new KubeError("Conflict", "changed", { status: 409 });
      return {};
    });
    expect(await leases.sweep(nowMs, signal)).toBeUndefined();
    expect(sent()).toEqual(["GET ", "DELETE /a", "DELETE /b"]);
  });

  it("ends with the first error that is no change of the Lease", async () => {
    const { leases, requests, sent } = world(({ method }) =>
      method === "GET" ? { items: [lease("a", undefined), lease("b", undefined)] } : forbidden(),
    );
    expect(await leases.sweep(nowMs, signal)).toMatchObject({ kind: "denied" });
    expect(sent()).toEqual(["GET ", "DELETE /a"]);
    for (const request of requests) expect(request).toMatchObject({ signal, timeoutMs: 5_000 });
  });
});

describe("names", () => {
  it("contain the identity if it is a valid name", () =>
    expect(candidateLeaseName("billing", "pod-b")).toBe("billing.candidate.pod-b"));

  it("contain a hash of an identity that is not", () => {
    expect(candidateLeaseName("billing", "Pod_B")).toMatch(/^billing\.candidate\.[0-9a-f]{16}$/);
    expect(candidateLeaseName("billing", "Pod_B")).not.toBe(candidateLeaseName("billing", "Pod_C"));
  });

  it("are valid even for the longest names", () => {
    const longest = "a".repeat(253);
    expect(candidateLeaseName(longest, "b")).toMatch(/^[0-9a-f]{16}\.candidate\.[0-9a-f]{16}$/);
    expect(candidateLabelValue(longest).length).toBeLessThanOrEqual(63);
    expect(candidateLabelValue("billing")).toBe("billing");
    expect(candidateLabelValue("a".repeat(63))).toBe("a".repeat(63));
  });
});
