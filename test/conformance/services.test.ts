// The endpoints of Services, with tenure's controllers on the API server under test.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { collectsGarbage, startTestCluster, type TestCluster, turnMs } from "./cluster.ts";
import { DeploymentWatch, deployment } from "./deployment-watch.ts";
import type { Body } from "./target.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startTestCluster();
}, turnMs);
afterAll(() => cluster.close());
beforeEach(async () => {
  namespace = await cluster.target.namespace();
});

const get = async (path: string): Promise<Body> => (await cluster.target.request("GET", path)).body;

async function createService(name: string, spec: Body = {}): Promise<void> {
  const body = {
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  };
  const { status } = await cluster.target.request("POST", `/api/v1/namespaces/${namespace}/services`, body);
  expect(status).toBe(201);
}

async function slices(name: string): Promise<Body[]> {
  const query = `labelSelector=kubernetes.io/service-name%3D${name}`;
  return (await get(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?${query}`)).items;
}
const readyIn = (items: Body[]) =>
  items.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }: Body) => conditions.ready);
const endpointsOf = (name: string) => get(`/api/v1/namespaces/${namespace}/endpoints/${name}`);

it("a Service gets the addresses of its ready pods, and loses them", async () => {
  await createService("web");
  await expect.poll(async () => (await slices("web")).length).toBe(1);
  const web = new DeploymentWatch(cluster.client, namespace, "web");
  await web.create(deployment("web"));
  await web.rolledOut();
  await expect.poll(async () => readyIn(await slices("web")).length).toBe(3);
  const [slice, ...others] = await slices("web");
  expect(others).toEqual([]);
  expect(slice.ports).toEqual([{ name: "", port: 8080, protocol: "TCP" }]);
  expect(slice.metadata.ownerReferences).toMatchObject([{ kind: "Service", name: "web" }]);
  await expect.poll(async () => (await endpointsOf("web")).subsets?.[0]?.addresses?.length).toBe(3);

  await web.patch({ spec: { replicas: 0 } });
  await expect.poll(async () => readyIn(await slices("web")).length).toBe(0);
  await expect.poll(async () => (await endpointsOf("web")).subsets ?? []).toEqual([]);
  await web.close();
});

it("the endpoints of a deleted Service are deleted", async () => {
  await createService("web");
  await expect.poll(async () => (await slices("web")).length).toBe(1);
  await expect.poll(async () => (await endpointsOf("web")).kind).toBe("Endpoints");
  await cluster.target.request("DELETE", `/api/v1/namespaces/${namespace}/services/web`);
  await expect.poll(async () => (await endpointsOf("web")).code).toBe(404);
  if (collectsGarbage) await expect.poll(async () => (await slices("web")).length).toBe(0);
});

it("a Service without a selector is left alone", async () => {
  await createService("web");
  await createService("manual", { selector: null });
  await expect.poll(async () => (await slices("web")).length).toBe(1);
  expect(await slices("manual")).toEqual([]);
});

it("every namespace gets the certificate of the API server", async () => {
  const path = `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`;
  await expect.poll(async () => (await get(path)).data?.["ca.crt"]).toBeDefined();
  await cluster.target.request("DELETE", path);
  await expect.poll(async () => (await get(path)).data?.["ca.crt"]).toBeDefined();
});
