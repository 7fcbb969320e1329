import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, expect, it } from "vitest";
import { giveOrder } from "./give-order.ts";
import type { LockObject } from "./lock-object.ts";
import { ServerClock } from "./server-clock.ts";
import type { ElectionState } from "./state.ts";

const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
let sandbox: Sandbox;
let folder: string;
let client: KubeClient;
beforeAll(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-order-"));
  const kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
});
afterAll(async () => {
  client.close();
  await sandbox.close();
  await rm(folder, { recursive: true });
});

const reader = () => ({
  client,
  serverClock: new ServerClock(() => Date.now()),
});
const spec = (holderIdentity: string, leaseTransitions: number) => ({
  holderIdentity,
  leaseTransitions,
  leaseDurationSeconds: 15,
  renewTime: new Date().toISOString().replace("Z", "000Z"),
});

/** Gives an order while another client writes between the read and the patch. */
async function give(name: string, meanwhile: (state: ElectionState) => object | undefined) {
  await client.request({ method: "POST", path, body: { metadata: { name }, spec: spec("a", 3) } });
  const seen: string[] = [];
  // The other write happens just before the first patch.
  const between = {
    request: async (request: Parameters<KubeClient["request"]>[0]) => {
      const first =
        seen.length === 1 && request.method === "PATCH" ? meanwhile(last as ElectionState) : undefined;
      if (first) {
        const object = await client.request<object>({ method: "GET", path: `${path}/${name}` });
        await client.request({ method: "PUT", path: `${path}/${name}`, body: { ...object, spec: first } });
      }
      return client.request(request);
    },
  } as KubeClient;
  let last: ElectionState | undefined;
  const given = await giveOrder({ ...reader(), client: between }, { namespace: "default", name }, (state) => {
    last = state;
    seen.push(`${state.leader} ${state.record.leaseTransitions}`);
    return state.leader === "a"
      ? { "tenure.dev/step-down": String(state.record.leaseTransitions) }
      : undefined;
  });
  const object = await client.request<LockObject>({ method: "GET", path: `${path}/${name}` });
  return { seen, given, annotations: object.metadata.annotations };
}

it("an order for one term is not written to the next, but decided again", async () => {
  const { seen, given, annotations } = await give("moved", () => spec("b", 4));
  expect(seen).toEqual(["a 3", "b 4"]);
  expect(given.after).toBeUndefined();
  expect(annotations).toBeUndefined();
});

it("a renewal in between only costs another attempt", async () => {
  const { seen, annotations } = await give("renewed", () => spec("a", 3));
  expect(seen).toEqual(["a 3", "a 3"]);
  expect(annotations).toEqual({ "tenure.dev/step-down": "3" });
});
