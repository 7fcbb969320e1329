/** The behaviour that the EndpointSlice gate and the ConfigMap gate share. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Gate } from "../gate.ts";
import { endpointSliceRules, leaderConfigMapRules } from "../rbac.ts";
import {
  type Any,
  type Cluster,
  configMaps,
  HoldingClient,
  newTerm,
  slices,
  startCluster,
} from "../testing/cluster.ts";
import { endpointSlice } from "./endpoint-slice.ts";
import type { KubeGateOptions } from "./kube-gate.ts";
import { leaderConfigMap } from "./leader-config-map.ts";

let cluster: Cluster;
const namespace = "prod";
const errors: string[] = [];
const addresses: Record<string, string> = { a: "10.0.0.1", b: "10.0.0.2" };

interface Kind {
  readonly kind: string;
  readonly path: string;
  readonly rules: readonly object[];
  make(pod: string, options: KubeGateOptions & { readonly election: string }): Gate;
  /** The pod that the object names. */
  named(object: Any): string;
  /** A change by hand. */
  readonly edited: object;
}

const kinds: readonly Kind[] = [
  {
    kind: "EndpointSlice",
    path: slices(namespace, "web-leader"),
    rules: endpointSliceRules({ service: "web" }),
    make: (pod, options) =>
      endpointSlice({ ...options, pod, service: "web", address: addresses[pod] as string }),
    named: ({ endpoints }) => endpoints.map(({ targetRef }: Any) => targetRef.name).join("+"),
    edited: { endpoints: [{ addresses: ["10.9.9.9"] }] },
  },
  {
    kind: "ConfigMap",
    path: configMaps(namespace, "leader-config"),
    rules: leaderConfigMapRules(),
    make: (pod, options) => leaderConfigMap({ ...options, pod }),
    named: ({ data }) => data.leader,
    edited: { data: { leader: "somebody" } },
  },
];

beforeEach(async () => {
  cluster = await startCluster();
  await cluster.addService("web");
  errors.length = 0;
});
afterEach(() => cluster.close());

describe.each(kinds)("$kind", ({ path, make, named, edited, rules }) => {
  const gateOf = (pod: string, options: Partial<KubeGateOptions & { election: string }> = {}) =>
    make(pod, {
      client: cluster.client,
      namespace,
      election: "web",
      onError: (error) => errors.push(error.message),
      ...options,
    });
  const read = () => cluster.get(path);
  const firstError = async () => {
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    return errors[0];
  };

  it("names the leader while the gate is open, and no pod afterwards", async () => {
    const a = gateOf("a");
    await a.prepare?.();
    await a.open(newTerm(5));
    expect(named(await read())).toBe("a");
    await a.close();
    expect(named(await read())).toBe("");
    await a.close();
  });

  it("names the successor after a crash, with a higher token", async () => {
    await gateOf("a").open(newTerm(5));
    await gateOf("b").open(newTerm(9));
    const object = await read();
    expect([named(object), object.metadata.annotations["tenure.dev/token"]]).toEqual(["b", "9"]);
  });

  it("names no pod as soon as the successor takes over, before it opens", async () => {
    await gateOf("a").open(newTerm(5));
    const b = gateOf("b");
    await b.prepare?.();
    await b.takeOver?.(newTerm(9));
    const object = await read();
    expect([named(object), object.metadata.annotations["tenure.dev/token"]]).toEqual(["", "9"]);
    await b.open(newTerm(9));
    expect(named(await read())).toBe("b");
    await b.takeOver?.(newTerm(9));
    expect(named(await read())).toBe("b");
  });

  it("is not touched by the takeover of an earlier term, nor if it names no pod", async () => {
    const a = gateOf("a");
    await a.prepare?.();
    await a.open(newTerm(9));
    const b = gateOf("b");
    await b.prepare?.();
    await b.takeOver?.(newTerm(5));
    expect(named(await read())).toBe("a");
    await a.close();
    const { metadata } = await read();
    await b.takeOver?.(newTerm(11));
    expect((await read()).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it("is not emptied by a takeover that the server executes after the gate has opened", async () => {
    await gateOf("a").open(newTerm(5));
    const client = new HoldingClient(cluster.client);
    const b = gateOf("b", { client });
    await b.prepare?.();
    client.shouldHold = ({ method }) => method === "PUT";
    const takingOver = b.takeOver?.(newTerm(9));
    await client.untilHeld();
    client.shouldHold = () => false;
    await b.open(newTerm(9));
    await takingOver;
    await client.sendHeld();
    expect(named(await read())).toBe("b");
  });

  it("never names a stale leader again: not by opening, at a renewal or by closing", async () => {
    const a = gateOf("a");
    await a.open(newTerm(5));
    await gateOf("b").open(newTerm(9));
    a.renewed?.(newTerm(5));
    expect(await firstError()).toContain(
      "a later term has already written it (its token is 9, the token of this term is 5)",
    );
    await expect(gateOf("a").open(newTerm(5))).rejects.toMatchObject({ code: "Fenced" });
    await a.close();
    expect(named(await read())).toBe("b");
  });

  it.each(["PUT", "POST"])("is not changed by a %s that the server executes late", async (method) => {
    if (method === "PUT") {
      const before = gateOf("a");
      await before.open(newTerm(3));
      await before.close();
    }
    const client = new HoldingClient(cluster.client);
    client.shouldHold = (request) => request.method === method;
    const opening = gateOf("a", { client }).open(newTerm(5));
    await client.untilHeld();
    await gateOf("b").open(newTerm(9));
    await client.sendHeld();
    await expect(opening).rejects.toMatchObject({ code: "Fenced" });
    expect(named(await read())).toBe("b");
  });

  it("is not changed by a write that the server executes after the gate was closed", async () => {
    const term = newTerm(5);
    const client = new HoldingClient(cluster.client);
    const gate = gateOf("a", { client });
    await gate.open(term);
    await gate.close();
    client.shouldHold = ({ method }) => method === "PUT";
    const opening = gate.open(term);
    opening.catch(() => {});
    await client.untilHeld();
    client.shouldHold = () => false;
    await gate.close();
    await client.sendHeld();
    expect(named(await read())).toBe("");
  });

  it("is restored at the next renewal after somebody edited it, and reports that", async () => {
    const a = gateOf("a");
    await a.open(newTerm(5));
    await cluster.patch(path, edited);
    a.renewed?.(newTerm(5));
    expect(await firstError()).toMatch(/somebody changed the .*; it names this replica again/);
    expect(named(await read())).toBe("a");
  });

  it("is created again at the next renewal after somebody deleted it", async () => {
    const a = gateOf("a");
    await a.open(newTerm(5));
    await cluster.remove(path);
    a.renewed?.(newTerm(5));
    expect(await firstError()).toMatch(/somebody deleted the /);
    expect(named(await read())).toBe("a");
  });

  it("keeps the labels and annotations of others", async () => {
    await gateOf("a").open(newTerm(5));
    await cluster.patch(path, { metadata: { labels: { team: "x" }, annotations: { note: "mine" } } });
    await gateOf("b").open(newTerm(9));
    expect((await read()).metadata).toMatchObject({ labels: { team: "x" }, annotations: { note: "mine" } });
  });

  it("is rejected and left unchanged if it belongs to another election", async () => {
    const b = gateOf("b");
    await b.prepare?.();
    await gateOf("a", { election: "api" }).open(newTerm(5));
    await expect(gateOf("b").prepare?.()).rejects.toMatchObject({ code: "Taken" });
    await expect(b.open(newTerm(9))).rejects.toThrow("the election api");
    await b.close();
    expect(named(await read())).toBe("a");
  });

  it("needs no other rules than it documents, and names each missing one", async () => {
    const gate = gateOf("a", { client: await cluster.restricted(rules) });
    await gate.prepare?.();
    await gate.open(newTerm(5));
    gate.renewed?.(newTerm(5));
    await gate.close();
    expect(errors).toEqual([]);
    for (const rule of rules as { verbs: string[]; resources: string[] }[]) {
      for (const verb of rule.verbs) {
        const rest = rule.verbs.filter((other) => other !== verb);
        const without = rules.flatMap((each) =>
          each !== rule ? [each] : rest.length > 0 ? [{ ...rule, verbs: rest }] : [],
        );
        if (verb === "create") await cluster.remove(path);
        const lacking = gateOf("a", { client: await cluster.restricted(without) });
        await expect(lacking.open(newTerm(99))).rejects.toMatchObject({
          code: "CannotOpen",
          message: expect.stringMatching(
            `Add to its Role: .*"${rule.resources[0]}".*verbs: \\["${verb}"\\]}`,
          ),
        });
        await gateOf("a").open(newTerm(7));
      }
    }
  });

  it("stops closing after its time-out if the server does not respond", async () => {
    const gate = gateOf("a", { closeTimeoutMs: 100 });
    await gate.open(newTerm(5));
    cluster.sandbox.faults.add({ effect: "hang" });
    await expect(gate.close()).rejects.toMatchObject({ code: "CannotClose" });
  });

  it("tolerates a lost response", async () => {
    cluster.sandbox.faults.add({ effect: "lose-answer", verb: "create", times: 1 });
    const gate = gateOf("a");
    await gate.open(newTerm(5));
    expect(named(await read())).toBe("a");
    cluster.sandbox.faults.add({ effect: "lose-answer", verb: "update", times: 1 });
    await gate.close();
    expect(named(await read())).toBe("");
  });
});
