/** Names, namespaces, announcements and requests, which are the same for all kinds of objects. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { KubeError } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Election } from "../election.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { ConfigMapLock, EndpointsLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";
import { lockFromSpec } from "./lock-from-spec.ts";
import { MigrationLock } from "./migration-lock.ts";
import type { KubeObject } from "./object-kind.ts";

const { signal } = new AbortController();
const path = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";

function open(api = new FakeApi()) {
  return { api, lock: new LeaseLock({ name: "lock", namespace: "ns", client: api.client }) };
}

beforeEach(() => {
  vi.stubEnv("NAMESPACE", "");
  vi.stubEnv("POD_NAMESPACE", "");
});
afterEach(() => vi.unstubAllEnvs());

describe("names", () => {
  it.each(["a", "0", "my-lock", "a.b-c.d", "x".repeat(253)])("%j is valid", (name) => {
    expect(() => new LeaseLock({ name, namespace: "ns" })).not.toThrow();
  });

  it.each([
    "",
    "A",
    "a_b",
    "a/b",
    "..",
    "-a",
    "a-",
    ".a",
    "a b",
    "a\n",
    "ä",
    "a?x=1",
    "x".repeat(254),
    undefined,
    7,
  ])("%j is invalid", (name) => {
    expect(() => new LeaseLock({ name: name as string, namespace: "ns" })).toThrow(
      "Cannot use the Lease as a lock: name must be 1 to 253 lower case letters",
    );
  });

  it("are reported with every other problem at once", () => {
    expect(() => new ConfigMapLock({ name: "A", namespace: "../kube-system" })).toThrow(
      /name must be .*, but is "A"; namespace must be .*, but is "\.\.\/kube-system"\.$/,
    );
    expect(() => new EndpointsLock({ name: "A" })).toThrow(
      expect.objectContaining({ name: "ElectionError", code: "InvalidOptions" }),
    );
  });
});

describe("the namespace", () => {
  it.each<[object, object, string]>([
    [{ NAMESPACE: "one", POD_NAMESPACE: "two" }, { namespace: "given" }, "given"],
    [{ NAMESPACE: "one", POD_NAMESPACE: "two" }, {}, "one"],
    [{ POD_NAMESPACE: "two" }, {}, "two"],
    [{}, {}, "from-config"],
  ])("with %j and %j is %s", async (environment, options, expected) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value as string);
    const api = new FakeApi();
    const lock = new LeaseLock({ name: "lock", client: api.client, ...options });
    await lock.prepare();
    await lock.read(signal);
    expect(api.requests[0]?.path).toBe(`/apis/coordination.k8s.io/v1/namespaces/${expected}/leases/lock`);
    expect(lock.description).toBe(`lease ${expected}/lock`);
  });

  it("is required, and the error says what to set", async () => {
    const api = new FakeApi();
    api.namespaceOfConfig = undefined;
    const lock = new LeaseLock({ name: "lock", client: api.client });
    await expect(lock.prepare()).rejects.toThrow("pass namespace, or set NAMESPACE or POD_NAMESPACE");
    expect(lock.description).toBe("lease (namespace of the configuration)/lock");
  });

  it.each(["NAMESPACE", "POD_NAMESPACE"])("is checked if it comes from %s", (name) => {
    vi.stubEnv(name, "../kube-system");
    expect(() => new LeaseLock({ name: "lock" })).toThrow(
      /namespace must be .*, but is "\.\.\/kube-system"\.$/,
    );
  });

  it("is checked if it comes from the configuration", async () => {
    const api = new FakeApi();
    api.namespaceOfConfig = "../kube-system";
    const lock = new LeaseLock({ name: "lock", client: api.client });
    await expect(lock.prepare()).rejects.toThrow("namespace must be");
  });
});

describe("the kubeconfig", () => {
  it("is read from the given path, in the given context", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tenure-lock-"));
    const kubeconfig = join(folder, "config");
    const context = (name: string) => ({
      name,
      context: { cluster: "c", user: "u", namespace: `ns-of-${name}` },
    });
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
        users: [{ name: "u", user: {} }],
        contexts: [context("one"), context("two")],
        "current-context": "one",
      }),
    );
    for (const [options, expected] of [
      [{}, "ns-of-one"],
      [{ context: "two" }, "ns-of-two"],
    ] as const) {
      const lock = new LeaseLock({ name: "lock", kubeconfig, ...options });
      await lock.prepare();
      expect(lock.description).toBe(`lease ${expected}/lock`);
    }
    const missing = new LeaseLock({ name: "lock", namespace: "ns", kubeconfig, context: "three" });
    await expect(missing.prepare()).rejects.toThrow("three");
    await rm(folder, { recursive: true });
  });
});

describe("prepare", () => {
  it("rejects an unusable configuration even if the namespace is known", async () => {
    const lock = new LeaseLock({ name: "lock", namespace: "ns", kubeconfig: "/nowhere/kubeconfig" });
    await expect(lock.prepare()).rejects.toMatchObject({
      name: "KubeError",
      message: expect.stringContaining("/nowhere/kubeconfig"),
    });
  });
});

describe("spec", () => {
  it("constructs the same lock, unless the lock has a client", () => {
    const options = { name: "lock", namespace: "ns", labels: { a: "b" }, kubeconfig: "/k", context: "c" };
    for (const Kind of [LeaseLock, ConfigMapLock, EndpointsLock]) {
      const lock = new Kind(options);
      const again = lockFromSpec(structuredClone(lock.spec) as NonNullable<typeof lock.spec>);
      expect(again).toBeInstanceOf(Kind);
      expect(again.spec).toEqual({ kind: Kind.name.replace("Lock", "").toLowerCase(), options });
      expect(again.description).toBe(lock.description);
    }
    expect(open().lock.spec).toBeUndefined();
  });

  it("of a migration has the specs of both locks", () => {
    const migration = new MigrationLock({
      from: new ConfigMapLock({ name: "old", namespace: "ns" }),
      to: new LeaseLock({ name: "new", namespace: "ns" }),
    });
    const again = lockFromSpec(migration.spec as NonNullable<typeof migration.spec>);
    expect(again.description).toBe("configmap ns/old and lease ns/new");
    expect(new MigrationLock({ from: migration, to: open().lock }).spec).toBeUndefined();
  });
});

describe("a resourceVersion", () => {
  it.each([
    ["that is not a number", "v1.2"],
    ["that is a number in the JSON, and may have lost digits,", 105],
  ])("%s is unreadable", async (_what, resourceVersion) => {
    const { api, lock } = open();
    const stored = api.put(path, { spec: {} });
    api.objects.set(path, { ...stored, metadata: { ...stored.metadata, resourceVersion } } as KubeObject);
    expect(await lock.read(signal)).toMatchObject({
      kind: "failed",
      failure: {
        kind: "unreadable",
        message: expect.stringMatching(`cannot be ordered: ${JSON.stringify(resourceVersion)}$`),
      },
    });
  });

  it("may be larger than the largest safe integer", async () => {
    const { api, lock } = open();
    const stored = api.put(path, { spec: {} });
    api.objects.set(path, {
      ...stored,
      metadata: { ...stored.metadata, resourceVersion: "18446744073709551615" },
    });
    expect(await lock.read(signal)).toMatchObject({ view: { revision: 18_446_744_073_709_551_615n } });
  });
});

describe("announce", () => {
  const event = (api: FakeApi) => api.requests.findLast(({ method }) => method === "POST");

  it("records an Event on the lock as client-go does", async () => {
    const { api, lock } = open();
    const { metadata } = api.put(path, { spec: {} });
    await lock.announce("a became leader", undefined, signal);
    expect(event(api)).toMatchObject({
      path: "/api/v1/namespaces/ns/events",
      body: {
        kind: "Event",
        metadata: { name: expect.stringMatching(/^lock\.[0-9a-f]{16}$/), namespace: "ns" },
        involvedObject: {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          namespace: "ns",
          name: "lock",
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
        },
        type: "Normal",
        reason: "LeaderElection",
        message: "a became leader",
        count: 1,
        source: { component: "tenure" },
        firstTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
    });
  });

  it("uses the view that is passed in, without a read", async () => {
    const { api, lock } = open();
    api.put(path, { spec: {} });
    const answer = await lock.read(signal);
    api.requests.length = 0;
    if (answer.kind === "found") await lock.announce("a stopped leading", answer.view, signal);
    expect(api.requests.map(({ method }) => method)).toEqual(["POST"]);
    expect(event(api)?.body).toMatchObject({ involvedObject: { uid: expect.stringMatching(/^uid-/) } });
  });

  it("works without a lock, and rejects without permission", async () => {
    const { api, lock } = open();
    await lock.announce("a stopped leading", undefined, signal);
    expect(event(api)?.body).toHaveProperty("involvedObject.name");
    expect(event(api)?.body).not.toHaveProperty("involvedObject.uid");
    api.fail = ({ method }) =>
      method === "POST" ? new KubeError("Forbidden", "may not create events") : undefined;
    await expect(lock.announce("x", undefined, signal)).rejects.toThrow("may not create events");
  });
});

describe("candidates", () => {
  it("are shown beside the lock, with its client and its name", async () => {
    const { api, lock } = open();
    const standing = { name: "waiting", reason: "pod-a leads" } as const;
    await lock.candidates.publish({ identity: "pod-b", standing, renewMs: 0 }, signal);
    expect(api.requests.map(({ path }) => path)).toEqual([`${path}.candidate.pod-b`]);
  });
});

describe("requests", () => {
  it("never reject, even if the client throws", async () => {
    const { api, lock } = open();
    api.fail = () => new TypeError("Request path contains unescaped characters");
    const answer = { kind: "failed", failure: { kind: "server", message: expect.any(String) } };
    expect(await lock.read(signal)).toEqual(answer);
    expect(await lock.write({ ...emptyRecord }, undefined, signal)).toEqual(answer);
  });

  it("carry the signal", async () => {
    const { api, lock } = open();
    const signals: unknown[] = [];
    api.fail = (request) => {
      signals.push(request.signal);
      return undefined;
    };
    await lock.read(signal);
    await lock.write({ ...emptyRecord }, undefined, signal);
    expect(signals).toEqual([signal, signal]);
  });

  it.each([
    ["longer than the candidate's", 11_250, 12_250],
    ["the client's default at least", 2_500, 10_000],
    ["the client's default without one", undefined, undefined],
  ])("have a time limit that is %s", async (_what, timeoutMs, expected) => {
    const { api, lock } = open();
    await lock.read(signal, timeoutMs);
    await lock.write({ ...emptyRecord }, undefined, signal, timeoutMs);
    const answer = await lock.read(signal, timeoutMs);
    if (answer.kind === "found") await lock.write({ ...emptyRecord }, answer.view, signal, timeoutMs);
    expect(api.requests.map((request) => [request.method, request.timeoutMs])).toEqual(
      ["GET", "POST", "GET", "PUT"].map((method) => [method, expected]),
    );
  });
});

const emptyRecord = {
  holderIdentity: "",
  leaseDurationSeconds: 1,
  acquireTime: undefined,
  renewTime: undefined,
  leaseTransitions: 0,
};

describe("a 404 of a proxy", () => {
  const page = new KubeError("HttpError", 'the server responded with 404 "404 page not found".', {
    status: 404,
  });

  it("does not end the term, and is reported as an error", async () => {
    const { api, lock } = open();
    const clock = new VirtualClock();
    const election = new Election({ lock, identity: "a", clock });
    const errors: string[] = [];
    election.on("error", ({ error }) => errors.push(error.message));
    void election.run(({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve)));
    await clock.pass(100);
    const { term } = election;
    expect(term?.isValid()).toBe(true);
    api.fail = () => page;
    await clock.pass(4_000);
    expect([term?.signal.aborted, term?.isValid()]).toEqual([false, true]);
    expect(errors[0]).toContain("This 404 did not come from a Kubernetes API server for this object");
    api.fail = undefined;
    await clock.pass(60_000);
    expect([term?.signal.aborted, election.leader]).toEqual([false, "a"]);
  });
});
