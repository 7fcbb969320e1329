import type { KubeRequest } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podLabelRules } from "../rbac.ts";
import {
  type Cluster,
  HoldingClient,
  leadersAmong,
  newTerm,
  pods,
  recordStates,
  startCluster,
} from "../testing/cluster.ts";
import { type PodLabelOptions, podLabel } from "./pod-label.ts";

let cluster: Cluster;
const namespace = "prod";
const errors: string[] = [];

beforeEach(async () => {
  cluster = await startCluster();
  errors.length = 0;
  for (const name of ["a", "b", "c"]) await cluster.addPod(name);
});
afterEach(() => cluster.close());

const gateOf = (pod: string, options: Partial<PodLabelOptions> = {}) =>
  podLabel({
    client: cluster.client,
    namespace,
    pod,
    election: "web",
    onError: (error) => errors.push(error.message),
    ...options,
  });
const roleOf = async (pod: string) =>
  (await cluster.get(pods(namespace, pod))).metadata.labels?.["tenure.dev/role"];
const label = (pod: string, role: string | null) =>
  cluster.patch(pods(namespace, pod), { metadata: { labels: { "tenure.dev/role": role } } });
/** The write that makes a pod the leader. */
const makesLeader = ({ method, body }: KubeRequest) =>
  method === "PATCH" && JSON.stringify(body).includes('"leader"');

async function threeGates() {
  const gates = { a: gateOf("a"), b: gateOf("b"), c: gateOf("c") };
  for (const gate of Object.values(gates)) await gate.prepare?.();
  return gates;
}

async function firstError(): Promise<string> {
  await expect.poll(() => errors.length).toBeGreaterThan(0);
  return errors[0] as string;
}

describe("a takeover", () => {
  it("removes the label of a dead leader before the successor gets it", async () => {
    const { a, b } = await threeGates();
    await a.open(newTerm(5));
    await b.takeOver?.(newTerm(9));
    expect(await Promise.all(["a", "b", "c"].map(roleOf))).toEqual(["standby", "standby", "standby"]);
    await b.open(newTerm(9));
    expect(await Promise.all(["a", "b", "c"].map(roleOf))).toEqual(["standby", "leader", "standby"]);
  });

  it("of an earlier term is rejected", async () => {
    const { a, b } = await threeGates();
    await a.open(newTerm(9));
    await expect(b.takeOver?.(newTerm(5))).rejects.toMatchObject({ code: "Fenced" });
    expect(await roleOf("a")).toBe("leader");
  });
});

describe("the label", () => {
  it("is standby from the start, leader while open, and standby again", async () => {
    const { a } = await threeGates();
    expect(await Promise.all(["a", "b", "c"].map(roleOf))).toEqual(["standby", "standby", "standby"]);
    await a.open(newTerm(5));
    const { labels, annotations } = (await cluster.get(pods(namespace, "a"))).metadata;
    expect(labels).toMatchObject({ "tenure.dev/role": "leader", "tenure.dev/election": "web" });
    expect(annotations["tenure.dev/token"]).toBe("5");
    await a.close();
    expect(await roleOf("a")).toBe("standby");
    await a.close();
  });

  it("is reset at the start if the pod still has it", async () => {
    await label("a", "leader");
    await gateOf("a").prepare?.();
    expect(await roleOf("a")).toBe("standby");
  });

  it("leaves other labels and annotations unchanged", async () => {
    await cluster.patch(pods(namespace, "a"), {
      metadata: { labels: { app: "x" }, annotations: { note: "mine" } },
    });
    const { a } = await threeGates();
    await a.open(newTerm(5));
    await a.close();
    const { labels, annotations } = (await cluster.get(pods(namespace, "a"))).metadata;
    expect([labels.app, annotations.note]).toEqual(["x", "mine"]);
  });

  it("can be set and removed several times within one term, as for a restart of the child", async () => {
    const { a } = await threeGates();
    const term = newTerm(5);
    for (let round = 0; round < 3; round++) {
      await a.open(term);
      expect(await roleOf("a")).toBe("leader");
      await a.close();
      expect(await roleOf("a")).toBe("standby");
    }
  });
});

describe("a successor", () => {
  it("removes the label from a dead leader before it labels its own pod", async () => {
    const { a, b } = await threeGates();
    await a.open(newTerm(5));
    const seen = await recordStates(cluster.client, `/api/v1/namespaces/${namespace}/pods`, leadersAmong);
    await seen.until("a");
    await b.open(newTerm(9));
    await seen.until("b");
    expect(seen.seen.slice(-3)).toEqual(["a", "", "b"]);
    await seen.end();
  });

  it("does not change pods of another election or of no election", async () => {
    await cluster.addPod("other", { labels: { "tenure.dev/role": "leader", "tenure.dev/election": "api" } });
    await cluster.addPod("none", { labels: { "tenure.dev/role": "leader" } });
    const { a } = await threeGates();
    await a.open(newTerm(5));
    expect([await roleOf("other"), await roleOf("none")]).toEqual(["leader", "leader"]);
  });

  it("tolerates that a pod is deleted while it is being labelled", async () => {
    await threeGates();
    const client = new HoldingClient(cluster.client);
    client.shouldHold = ({ method, path }) => method === "PATCH" && path.endsWith("/c");
    const opening = gateOf("b", { client }).open(newTerm(9));
    await client.untilHeld();
    await cluster.remove(pods(namespace, "c"));
    await client.sendHeld();
    await opening;
    expect(await roleOf("b")).toBe("leader");
  });

  it("finds the leader among more pods than one response contains", async () => {
    for (let index = 0; index < 205; index++) {
      await cluster.addPod(`p${String(index).padStart(3, "0")}`, {
        labels: { "tenure.dev/role": index === 204 ? "leader" : "standby", "tenure.dev/election": "web" },
      });
    }
    const { a } = await threeGates();
    await a.open(newTerm(5));
    expect(await roleOf("p204")).toBe("standby");
  });
});

describe("a leader that was frozen and continues late", () => {
  it("does not label itself by a write that was in flight during the takeover", async () => {
    const { b } = await threeGates();
    const client = new HoldingClient(cluster.client);
    client.shouldHold = makesLeader;
    const seen = await recordStates(cluster.client, `/api/v1/namespaces/${namespace}/pods`, leadersAmong);
    const opening = gateOf("a", { client }).open(newTerm(5));
    await client.untilHeld();
    await b.open(newTerm(9));
    await client.sendHeld();
    await expect(opening).rejects.toMatchObject({ code: "Fenced" });
    await seen.until("b");
    expect(seen.seen).not.toContain("a+b");
    expect(await roleOf("a")).toBe("standby");
    await seen.end();
  });

  it("does not label itself again at a renewal", async () => {
    const { a, b } = await threeGates();
    await a.open(newTerm(5));
    await b.open(newTerm(9));
    a.renewed?.(newTerm(5));
    expect(await firstError()).toMatch(/^Cannot write pod prod\/[ab]: a later term has already written it/);
    expect([await roleOf("a"), await roleOf("b")]).toEqual(["standby", "leader"]);
  });

  it("does not label itself again after the pod of its successor was deleted", async () => {
    const { a, b } = await threeGates();
    await a.open(newTerm(5));
    await b.open(newTerm(9));
    await cluster.remove(pods(namespace, "b"));
    await cluster.remove(pods(namespace, "c"));
    await expect(gateOf("a").open(newTerm(5))).rejects.toMatchObject({ code: "Fenced" });
    expect(await roleOf("a")).toBe("standby");
  });

  it("does not remove the label of its successor when it closes", async () => {
    const { a, b } = await threeGates();
    await a.open(newTerm(5));
    await b.open(newTerm(9));
    await a.close();
    expect([await roleOf("a"), await roleOf("b")]).toEqual(["standby", "leader"]);
    const { annotations } = (await cluster.get(pods(namespace, "a"))).metadata;
    expect(annotations["tenure.dev/token"]).toBe("9");
  });

  it("sends no write after its term has expired", async () => {
    await threeGates();
    const client = new HoldingClient(cluster.client);
    let isValid = true;
    client.shouldHold = ({ method }) => method === "GET";
    const opening = gateOf("a", { client }).open(newTerm(5, { isValid: () => isValid }));
    await client.untilHeld();
    isValid = false;
    await client.sendHeld();
    await expect(opening).rejects.toThrow("the term has expired");
    expect(client.sent.filter((line) => line.startsWith("PATCH"))).toEqual([]);
  });

  it.each(["first", "second"])(
    "undoes the %s write of a term that the server executes after the gate was closed",
    async (which) => {
      await threeGates();
      const client = new HoldingClient(cluster.client);
      const gate = gateOf("a", { client });
      if (which === "second") {
        await gate.open(newTerm(5));
        await gate.close();
      }
      client.shouldHold = makesLeader;
      const opening = gate.open(newTerm(5));
      opening.catch(() => {});
      await client.untilHeld();
      client.shouldHold = () => false;
      await gate.close();
      await expect(opening).rejects.toThrow();
      await client.sendHeld();
      expect(await roleOf("a")).toBe("standby");
    },
  );

  it("does not label another pod that has the same name", async () => {
    const { a } = await threeGates();
    await cluster.remove(pods(namespace, "a"));
    await cluster.addPod("a");
    await expect(a.open(newTerm(5))).rejects.toThrow("replaced by another pod of the same name");
    expect(await roleOf("a")).toBeUndefined();
  });
});

describe("at a renewal", () => {
  it("restores a label that somebody removed, and reports it", async () => {
    const { a } = await threeGates();
    await a.open(newTerm(5));
    await label("a", null);
    a.renewed?.(newTerm(5));
    expect(await firstError()).toContain("somebody changed tenure.dev/role on pod a; it is leader again");
    expect(await roleOf("a")).toBe("leader");
  });

  it("removes a label that somebody put on another pod", async () => {
    const { a } = await threeGates();
    await a.open(newTerm(5));
    await label("c", "leader");
    a.renewed?.(newTerm(5));
    expect(await firstError()).toContain("somebody also labelled c as leader; that label is removed");
    expect([await roleOf("a"), await roleOf("c")]).toEqual(["leader", "standby"]);
  });

  it("sends one request if nothing has changed", async () => {
    await threeGates();
    const client = new HoldingClient(cluster.client);
    const gate = gateOf("a", { client });
    await gate.open(newTerm(5));
    client.sent.length = 0;
    gate.renewed?.(newTerm(5));
    gate.renewed?.(newTerm(5));
    await gate.close();
    expect(client.sent[0]).toBe(`GET /api/v1/namespaces/${namespace}/pods`);
    expect(client.sent.filter((line) => line === client.sent[0])).toHaveLength(1);
    expect(errors).toEqual([]);
  });
});

describe("errors", () => {
  it.each(["get", "list", "patch"])("names the missing rule for %s before the election", async (verb) => {
    const [rule] = podLabelRules() as { verbs: string[] }[];
    const rules = [{ ...rule, verbs: rule?.verbs.filter((each) => each !== verb) }];
    const gate = gateOf("a", { client: await cluster.restricted(rules) });
    await expect(gate.prepare?.()).rejects.toMatchObject({
      code: "CannotOpen",
      message: expect.stringMatching(
        `Add to its Role: {apiGroups: \\[""\\], resources: \\["pods"\\],.*verbs: \\["${verb}"\\]}`,
      ),
    });
  });

  it("needs no other rules than podLabelRules()", async () => {
    const gate = gateOf("a", { client: await cluster.restricted(podLabelRules()) });
    await gate.prepare?.();
    await gate.open(newTerm(5));
    gate.renewed?.(newTerm(5));
    await gate.close();
    expect(errors).toEqual([]);
  });

  it("rejects a pod that does not exist", async () => {
    await expect(gateOf("nobody").prepare?.()).rejects.toThrow(
      "Cannot label pod prod/nobody: the pod does not exist. Set POD_NAME to the name of the pod that this process runs in",
    );
  });

  it("rejects a pod of another election", async () => {
    await cluster.addPod("d", { labels: { "tenure.dev/election": "api" } });
    await expect(gateOf("d").prepare?.()).rejects.toMatchObject({
      code: "Taken",
      message: expect.stringContaining("it belongs to the election api"),
    });
  });

  it("stops closing after its time-out if the server does not respond", async () => {
    const client = new HoldingClient(cluster.client);
    const gate = gateOf("a", { client, closeTimeoutMs: 100 });
    await gate.open(newTerm(5));
    cluster.sandbox.faults.add({ effect: "hang" });
    await expect(gate.close()).rejects.toMatchObject({
      code: "CannotClose",
      message: expect.stringMatching(
        /within 100 ms: .*\. The next leader takes this replica out of traffic\.$/,
      ),
    });
  });

  it("retries while the server responds with 503", async () => {
    const { a } = await threeGates();
    cluster.sandbox.faults.add({ effect: { status: 503 }, resource: "pods", times: 3 });
    await a.open(newTerm(5));
    expect(await roleOf("a")).toBe("leader");
  });

  it("reports all invalid names together", () => {
    expect(() => gateOf("A", { namespace: "../x" })).toThrow(/namespace must be.*; pod must be/);
  });
});
