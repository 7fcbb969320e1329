import { afterEach, beforeEach, expect, it } from "vitest";
import { type Cluster, newTerm, slices, startCluster } from "../testing/cluster.ts";
import { type EndpointSliceOptions, endpointSlice } from "./endpoint-slice.ts";

let cluster: Cluster;
const namespace = "prod";
beforeEach(async () => {
  cluster = await startCluster();
});
afterEach(() => cluster.close());

const gateOf = (options: Partial<EndpointSliceOptions> = {}) =>
  endpointSlice({
    client: cluster.client,
    namespace,
    service: "web",
    pod: "a",
    address: "10.0.0.1",
    election: "web",
    ...options,
  });
const slice = () => cluster.get(slices(namespace, "web-leader"));

it("is one slice of the Service with one ready endpoint, which is the pod, and goes with the Service", async () => {
  await cluster.addService("web", {
    ports: [
      { name: "http", port: 80, targetPort: 8080, appProtocol: "http" },
      { name: "dns", port: 53, protocol: "UDP" },
    ],
  });
  await gateOf({ nodeName: "node-1", podUid: "u-1" }).open(newTerm(5));
  const { metadata, addressType, endpoints, ports } = await slice();
  expect(metadata.labels).toEqual({
    "kubernetes.io/service-name": "web",
    "endpointslice.kubernetes.io/managed-by": "tenure.dev",
    "tenure.dev/election": "web",
  });
  expect(metadata.ownerReferences).toMatchObject([{ kind: "Service", name: "web" }]);
  expect(addressType).toBe("IPv4");
  expect(endpoints).toEqual([
    {
      addresses: ["10.0.0.1"],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: "node-1",
      targetRef: { kind: "Pod", namespace, name: "a", uid: "u-1" },
    },
  ]);
  expect(ports).toEqual([
    { name: "http", port: 8080, protocol: "TCP", appProtocol: "http" },
    { name: "dns", port: 53, protocol: "UDP" },
  ]);
});

it("speaks IPv6, and does not mix the two", async () => {
  await cluster.addService("web");
  await gateOf({ address: "fd00::1" }).open(newTerm(5));
  expect((await slice()).addressType).toBe("IPv6");
  await expect(gateOf().open(newTerm(9))).rejects.toThrow("its addresses are IPv6, that of this pod is IPv4");
});

it("follows the ports of the Service from one opening to the next", async () => {
  await cluster.addService("web");
  const gate = gateOf();
  await gate.open(newTerm(5));
  await gate.close();
  await cluster.patch(`/api/v1/namespaces/${namespace}/services/web`, {
    spec: { ports: [{ port: 80, targetPort: 9090 }] },
  });
  await gate.open(newTerm(5));
  expect((await slice()).ports).toMatchObject([{ port: 9090 }]);
});

it.each([
  ["there is none", undefined, "there is no Service prod/web. Create it, without a selector."],
  [
    "it has a selector",
    { selector: { app: "web" }, ports: [{ port: 80 }] },
    'has a selector ({"app":"web"}), by which Kubernetes adds every ready pod. Remove spec.selector',
  ],
  [
    "it is an ExternalName",
    { type: "ExternalName", externalName: "example.com" },
    "is an ExternalName, which has no endpoints",
  ],
  [
    "its targetPort is a name",
    { ports: [{ port: 80, targetPort: "http" }] },
    'its port 80 goes to the container port named "http": give the number, 80=NUMBER',
  ],
])("a Service that will not do is refused before any election: %s", async (_what, spec, message) => {
  if (spec) await cluster.addService("web", spec);
  await expect(gateOf().prepare?.()).rejects.toThrow(message);
});

it("takes the number of a port that has a name", async () => {
  await cluster.addService("web", { ports: [{ name: "web", port: 80, targetPort: "http" }] });
  await gateOf({ ports: { web: 8080 } }).open(newTerm(5));
  expect((await slice()).ports).toMatchObject([{ name: "web", port: 8080 }]);
  await gateOf({ ports: 8081 }).open(newTerm(9));
  expect((await slice()).ports).toMatchObject([{ name: "web", port: 8081 }]);
});

it("leaves a slice alone that Kubernetes or a person made", async () => {
  await cluster.addService("web");
  await cluster.client.request({
    method: "POST",
    path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    body: {
      metadata: {
        name: "web-leader",
        labels: { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.7"] }],
    },
  });
  await expect(gateOf().open(newTerm(5))).rejects.toThrow("it is managed by endpointslice-controller.k8s.io");
  expect((await slice()).endpoints).toMatchObject([{ addresses: ["10.0.0.7"] }]);
});

it("names that cannot be names, and an address that is none, are refused at once, all of them", () => {
  expect(() => gateOf({ service: "Web", address: "localhost" })).toThrow(
    /service must be .*; the name of the slice must be .*; address must be the IP address of the pod.*"localhost"/,
  );
});
