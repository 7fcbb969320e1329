/**
 * With the printed admission policies, a replica can change only its own lock and the Leases of its candidates, and a replica can label its own pod and take the others out of traffic, and can change nothing
 * else of any pod, although its Role allows to patch all of them.
 */
import { randomUUID } from "node:crypto";
import { KubeClient, KubeError } from "@tenure/kube";
import { podLabel } from "@tenure/traffic";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { objectsFor } from "../../packages/cli/src/commands/manifests/objects.ts";
import { collectionOf } from "../processes/manifests/resources.ts";
import { type Access, type Answer, must } from "./api.ts";

const { adminToken, ...cluster } = inject("kube");
const admin: Access = { ...cluster, token: adminToken };
const name = "web";
const namespace = `policy-${randomUUID().slice(0, 8)}`;
const pods = `/api/v1/namespaces/${namespace}/pods`;
const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
const clients: KubeClient[] = [];
const uids = new Map<string, string>();

beforeAll(async () => {
  await must(admin, "POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  const objects = objectsFor({
    name,
    namespace,
    image: "x:1",
    command: ["x"],
    traffic: "label",
    port: 80,
    admissionPolicy: true,
  });
  for (const object of objects) await must(admin, "POST", collectionOf(object), object);
  await must(admin, "POST", accounts, { metadata: { name: "default" } });
  const labels = { "tenure.dev/election": name, "tenure.dev/role": "standby", team: "red" };
  const annotations = { note: "keep" };
  await addPod("a", { labels, annotations });
  await addPod("b", { labels, annotations });
  await addPod("other", { labels: { app: "database" } });
});
afterAll(() => {
  for (const client of clients) client.close();
});

async function addPod(pod: string, metadata: object): Promise<void> {
  const { metadata: made } = await must(admin, "POST", pods, {
    metadata: { name: pod, ...metadata },
    spec: {
      containers: [{ name: "app", image: "x:1" }],
      serviceAccountName: name,
      automountServiceAccountToken: false,
    },
  });
  uids.set(pod, made?.uid ?? "");
}

/** A client with the token that the kubelet gives to this pod; without a pod, with one that is bound to none. */
async function clientOf(pod?: string): Promise<KubeClient> {
  const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: pod, uid: uids.get(pod ?? "") };
  const { status } = await must(admin, "POST", `${accounts}/${name}/token`, {
    spec: { expirationSeconds: 3600, ...(pod !== undefined && { boundObjectRef }) },
  });
  return clientWith(status?.token ?? "");
}

function clientWith(token: string): KubeClient {
  const credentials = {
    headers: async () => ({ authorization: `Bearer ${token}` }),
    tls: async () => ({}),
    refresh: async () => {},
  };
  const client = new KubeClient({ server: cluster.server, ca: cluster.caPem, credentials });
  clients.push(client);
  return client;
}

const roleOf = async (pod: string) =>
  ((await must(admin, "GET", `${pods}/${pod}`)) as Answer & { metadata: { labels: Record<string, string> } })
    .metadata.labels["tenure.dev/role"];

async function patch(client: KubeClient, pod: string, body: object): Promise<string> {
  try {
    await client.request({
      method: "PATCH",
      path: `${pods}/${pod}`,
      contentType: "application/merge-patch+json",
      body,
    });
    return "allowed";
  } catch (error) {
    if (error instanceof KubeError) return error.message;
    throw error;
  }
}

const leader = { metadata: { labels: { "tenure.dev/role": "leader" } } };
const standby = { metadata: { labels: { "tenure.dev/role": "standby" } } };

/** The policy is in force some moments after it was created. */
async function untilInForce(client: KubeClient): Promise<void> {
  await expect.poll(() => patch(client, "other", { metadata: { labels: { x: "y" } } })).not.toBe("allowed");
}

it("the gate of each replica works: they lead in turn", async () => {
  await untilInForce(await clientOf("a"));
  const gates = await Promise.all(
    ["a", "b"].map(async (pod) => podLabel({ client: await clientOf(pod), namespace, pod, election: name })),
  );
  const term = (token: bigint) => ({ identity: "x", token, isValid: () => true, remainingMs: () => 10_000 });
  const [a, b] = gates as [ReturnType<typeof podLabel>, ReturnType<typeof podLabel>];
  for (const gate of gates) await gate.prepare?.();
  await a.open(term(5n));
  expect([await roleOf("a"), await roleOf("b")]).toEqual(["leader", "standby"]);
  await b.open(term(9n));
  expect([await roleOf("a"), await roleOf("b")]).toEqual(["standby", "leader"]);
  await b.close();
  expect([await roleOf("a"), await roleOf("b")]).toEqual(["standby", "standby"]);
});

it("a replica names only its own pod as the leader", async () => {
  const client = await clientOf("a");
  expect(await patch(client, "b", leader)).toContain("a replica may name only its own pod as the leader");
  expect(await patch(client, "a", leader)).toBe("allowed");
  expect(await patch(client, "a", standby)).toBe("allowed");
});

it("a token that is bound to no pod names no leader", async () => {
  expect(await patch(await clientOf(), "a", leader)).toContain("may name only its own pod");
});

it.each([
  ["a pod of no election", "other", standby, "may change only pods of this election"],
  [
    "a pod, to adopt it",
    "other",
    { metadata: { labels: { "tenure.dev/election": "web", "tenure.dev/role": "standby" } } },
    "may change only pods of this election",
  ],
  [
    "the election of a pod",
    "b",
    { metadata: { labels: { "tenure.dev/election": "x" } } },
    "only pods of this",
  ],
  ["the role, to another value", "b", { metadata: { labels: { "tenure.dev/role": "x" } } }, "only its own"],
  ["another label", "a", { metadata: { labels: { app: "database" } } }, "no other label or annotation"],
  ["an existing label", "b", { metadata: { labels: { team: "blue" } } }, "no other label or annotation"],
  ["a label, to remove it", "b", { metadata: { labels: { team: null } } }, "no other label or annotation"],
  ["another annotation", "a", { metadata: { annotations: { x: "y" } } }, "no other label or annotation"],
  ["an annotation, to remove it", "b", { metadata: { annotations: { note: null } } }, "no other label or"],
  ["the image", "a", { spec: { containers: [{ name: "app", image: "bad:1" }] } }, "only labels and annota"],
  ["a finalizer", "b", { metadata: { finalizers: ["x.example/y"] } }, "only labels and annotations"],
  [
    "an owner",
    "b",
    { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "1" }] } },
    "only labels and annotations",
  ],
])("a replica cannot change %s", async (_what, pod, body, message) => {
  expect(await patch(await clientOf("a"), pod, body)).toContain(message);
});

it("others keep their rights", async () => {
  expect(await patch(clientWith(adminToken), "b", { metadata: { labels: { team: "blue" } } })).toBe(
    "allowed",
  );
});

it("a replica changes and deletes only its lock and the Leases of its candidates", async () => {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  for (const lease of [name, `${name}.candidate.a`, "other-election"])
    await must(admin, "POST", leases, { metadata: { name: lease }, spec: {} });
  const client = await clientOf("a");
  const attempt = (method: "PATCH" | "DELETE", lease: string) =>
    client
      .request({
        method,
        path: `${leases}/${lease}`,
        ...(method === "PATCH" && {
          contentType: "application/merge-patch+json",
          body: { spec: { holderIdentity: "a" } },
        }),
      })
      .then(
        () => "allowed",
        (error) => (error as Error).message,
      );
  const denied = "may change only its lock and the Leases of its candidates";
  await expect.poll(() => attempt("PATCH", "other-election")).toContain(denied);
  expect(await attempt("DELETE", "other-election")).toContain(denied);
  expect(await attempt("PATCH", name)).toBe("allowed");
  expect(await attempt("PATCH", `${name}.candidate.a`)).toBe("allowed");
  expect(await attempt("DELETE", `${name}.candidate.a`)).toBe("allowed");
});
