import type { KubeRequest } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podLabelRules } from "../rbac.ts";
import {
  type Cluster,
  FrozenClient,
  leadersAmong,
  newTerm,
  pods,
  startCluster,
  witness,
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

async function three() {
  const gates = { a: gateOf("a"), b: gateOf("b"), c: gateOf("c") };
  for (const gate of Object.values(gates)) await gate.prepare?.();
  return gates;
}

async function mended(): Promise<string> {
  await expect.poll(() => errors.length, { timeout: 5_000 }).toBeGreaterThan(0);
  return errors[0] as string;
}

describe("the label", () => {
  it("is standby from the start, leader while open, and standby again", async () => {
    const { a } = await three();
    expect(await Promise.all(["a", "b", "c"].map(roleOf))).toEqual(["standby", "standby", "standby"]);
    await a.open(newTerm(5));
    const { labels, annotations } = (await cluster.get(pods(namespace, "a"))).metadata;
    expect(labels).toMatchObject({ "tenure.dev/role": "leader", "tenure.dev/election": "web" });
    expect(annotations["tenure.dev/token"]).toBe("5");
    await a.close();
    expect(await roleOf("a")).toBe("standby");
    await a.close();
  });

  it("of an earlier life of the same pod is taken away at the start", async () => {
    await label("a", "leader");
    await gateOf("a").prepare?.();
    expect(await roleOf("a")).toBe("standby");
  });

  it("keeps what others put on the pod", async () => {
    await cluster.patch(pods(namespace, "a"), {
      metadata: { labels: { app: "x" }, annotations: { note: "mine" } },
    });
    const { a } = await three();
    await a.open(newTerm(5));
    await a.close();
    const { labels, annotations } = (await cluster.get(pods(namespace, "a"))).metadata;
    expect([labels.app, annotations.note]).toEqual(["x", "mine"]);
  });

  it("can be opened and closed again within one term, as when a child is restarted", async () => {
    const { a } = await three();
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
  it("takes the label from a dead leader before it takes it itself", async () => {
    const { a, b } = await three();
    await a.open(newTerm(5));
    const seen = await witness(cluster.client, `/api/v1/namespaces/${namespace}/pods`, leadersAmong);
    await seen.until("a");
    await b.open(newTerm(9));
    await seen.until("b");
    expect(seen.seen.slice(-3)).toEqual(["a", "", "b"]);
    await seen.end();
  });

  it("leaves pods of another election and of none alone", async () => {
    await cluster.addPod("other", { labels: { "tenure.dev/role": "leader", "tenure.dev/election": "api" } });
    await cluster.addPod("none", { labels: { "tenure.dev/role": "leader" } });
    const { a } = await three();
    await a.open(newTerm(5));
    expect([await roleOf("other"), await roleOf("none")]).toEqual(["leader", "leader"]);
  });

  it("is not disturbed by a pod that goes while it is being labelled", async () => {
    await three();
    const client = new FrozenClient(cluster.client);
    client.freezes = ({ method, path }) => method === "PATCH" && path.endsWith("/c");
    const opening = gateOf("b", { client }).open(newTerm(9));
    await client.held();
    await cluster.remove(pods(namespace, "c"));
    await client.thaw();
    await opening;
    expect(await roleOf("b")).toBe("leader");
  });

  it("finds the leader among more pods than fit one answer", async () => {
    for (let index = 0; index < 205; index++) {
      await cluster.addPod(`p${String(index).padStart(3, "0")}`, {
        labels: { "tenure.dev/role": index === 204 ? "leader" : "standby", "tenure.dev/election": "web" },
      });
    }
    const { a } = await three();
    await a.open(newTerm(5));
    expect(await roleOf("p204")).toBe("standby");
  });
});

describe("a frozen leader that wakes up late", () => {
  it("does not label itself by a write that was under way while its successor took over", async () => {
    const { b } = await three();
    const client = new FrozenClient(cluster.client);
    client.freezes = makesLeader;
    const seen = await witness(cluster.client, `/api/v1/namespaces/${namespace}/pods`, leadersAmong);
    const opening = gateOf("a", { client }).open(newTerm(5));
    await client.held();
    await b.open(newTerm(9));
    await client.thaw();
    await expect(opening).rejects.toMatchObject({ code: "Fenced" });
    await seen.until("b");
    expect(seen.seen).not.toContain("a+b");
    expect(await roleOf("a")).toBe("standby");
    await seen.end();
  });

  it("does not label itself again at a renewal that it believes in", async () => {
    const { a, b } = await three();
    await a.open(newTerm(5));
    await b.open(newTerm(9));
    a.renewed?.(newTerm(5));
    expect(await mended()).toMatch(/^Cannot write pod prod\/[ab]: a later term was there already/);
    expect([await roleOf("a"), await roleOf("b")]).toEqual(["standby", "leader"]);
  });

  it("does not label itself again either when its successor's pod is gone meanwhile", async () => {
    const { a, b } = await three();
    await a.open(newTerm(5));
    await b.open(newTerm(9));
    await cluster.remove(pods(namespace, "b"));
    await cluster.remove(pods(namespace, "c"));
    await expect(gateOf("a").open(newTerm(5))).rejects.toMatchObject({ code: "Fenced" });
    expect(await roleOf("a")).toBe("standby");
  });

  it("does not take the label from its successor by closing", async () => {
    const { a, b } = await three();
    await a.open(newTerm(5));
    await b.open(newTerm(9));
    await a.close();
    expect([await roleOf("a"), await roleOf("b")]).toEqual(["standby", "leader"]);
    const { annotations } = (await cluster.get(pods(namespace, "a"))).metadata;
    expect(annotations["tenure.dev/token"]).toBe("9");
  });

  it("sends nothing once its time has run out", async () => {
    await three();
    const client = new FrozenClient(cluster.client);
    let isValid = true;
    client.freezes = ({ method }) => method === "GET";
    const opening = gateOf("a", { client }).open(newTerm(5, { isValid: () => isValid }));
    await client.held();
    isValid = false;
    await client.thaw();
    await expect(opening).rejects.toThrow("the term has run out");
    expect(client.sent.filter((line) => line.startsWith("PATCH"))).toEqual([]);
  });

  it.each(["first", "second"])(
    "takes back the %s write of a term that is carried out after it was given up",
    async (which) => {
      await three();
      const client = new FrozenClient(cluster.client);
      const gate = gateOf("a", { client });
      if (which === "second") {
        await gate.open(newTerm(5));
        await gate.close();
      }
      client.freezes = makesLeader;
      const opening = gate.open(newTerm(5));
      opening.catch(() => {});
      await client.held();
      client.freezes = () => false;
      await gate.close();
      await expect(opening).rejects.toThrow();
      await client.thaw();
      expect(await roleOf("a")).toBe("standby");
    },
  );

  it("leaves a pod alone that has the name of its own, and is another one", async () => {
    const { a } = await three();
    await cluster.remove(pods(namespace, "a"));
    await cluster.addPod("a");
    await expect(a.open(newTerm(5))).rejects.toThrow("replaced by another pod of the same name");
    expect(await roleOf("a")).toBeUndefined();
  });
});

describe("at a renewal", () => {
  it("a label that somebody removed is put back, and that is told", async () => {
    const { a } = await three();
    await a.open(newTerm(5));
    await label("a", null);
    a.renewed?.(newTerm(5));
    expect(await mended()).toContain("somebody changed tenure.dev/role on pod a; it is leader again");
    expect(await roleOf("a")).toBe("leader");
  });

  it("a label that somebody put on another pod is taken away", async () => {
    const { a } = await three();
    await a.open(newTerm(5));
    await label("c", "leader");
    a.renewed?.(newTerm(5));
    expect(await mended()).toContain("somebody had labelled c as leader too; not any more");
    expect([await roleOf("a"), await roleOf("c")]).toEqual(["leader", "standby"]);
  });

  it("one small request, when all is well", async () => {
    await three();
    const client = new FrozenClient(cluster.client);
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

describe("what goes wrong", () => {
  it.each(["get", "list", "patch"])(
    "without %s the missing rule is named, before any election",
    async (verb) => {
      const [rule] = podLabelRules() as { verbs: string[] }[];
      const rules = [{ ...rule, verbs: rule?.verbs.filter((each) => each !== verb) }];
      const gate = gateOf("a", { client: await cluster.restricted(rules) });
      await expect(gate.prepare?.()).rejects.toMatchObject({
        code: "CannotOpen",
        message: expect.stringMatching(
          `Add to its Role: {apiGroups: \\[""\\], resources: \\["pods"\\],.*verbs: \\["${verb}"\\]}`,
        ),
      });
    },
  );

  it("the rules that it says it needs are enough", async () => {
    const gate = gateOf("a", { client: await cluster.restricted(podLabelRules()) });
    await gate.prepare?.();
    await gate.open(newTerm(5));
    gate.renewed?.(newTerm(5));
    await gate.close();
    expect(errors).toEqual([]);
  });

  it("a pod that is not there is a clear error", async () => {
    await expect(gateOf("nobody").prepare?.()).rejects.toThrow(
      "Cannot label pod prod/nobody: there is no such pod. POD_NAME must be the name of the pod that this runs in",
    );
  });

  it("a pod of another election is refused", async () => {
    await cluster.addPod("d", { labels: { "tenure.dev/election": "api" } });
    await expect(gateOf("d").prepare?.()).rejects.toMatchObject({
      code: "Taken",
      message: expect.stringContaining("it belongs to the election api"),
    });
  });

  it("closing ends in its time when the server does not answer", async () => {
    const client = new FrozenClient(cluster.client);
    const gate = gateOf("a", { client, closeTimeoutMs: 100 });
    await gate.open(newTerm(5));
    cluster.sandbox.faults.add({ effect: "hang" });
    await expect(gate.close()).rejects.toMatchObject({
      code: "CannotClose",
      message: expect.stringContaining("within 100 ms, its successor will"),
    });
  });

  it("a server that refuses for a while is asked again", async () => {
    const { a } = await three();
    cluster.sandbox.faults.add({ effect: { status: 503 }, resource: "pods", times: 3 });
    await a.open(newTerm(5));
    expect(await roleOf("a")).toBe("leader");
  });

  it("names that cannot be names are refused at once, all of them", () => {
    expect(() => gateOf("A", { namespace: "../x" })).toThrow(/namespace must be.*; pod must be/);
  });
});
