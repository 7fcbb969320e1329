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

it("writes one slice with the pod as its only ready endpoint, owned by the Service", async () => {
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

it("supports IPv6, and rejects a slice of the other address family", async () => {
  await cluster.addService("web");
  await gateOf({ address: "fd00::1" }).open(newTerm(5));
  expect((await slice()).addressType).toBe("IPv6");
  await expect(gateOf().open(newTerm(9))).rejects.toThrow(
    "its address type is IPv6, which cannot be changed, but the address of this pod is IPv4",
  );
});

it("reads the ports of the Service at every opening", async () => {
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
  ["it does not exist", undefined, "the Service prod/web does not exist. Create it without a selector."],
  [
    "it has a selector",
    { selector: { app: "web" }, ports: [{ port: 80 }] },
    'has a selector ({"app":"web"}), so Kubernetes adds every ready pod. Remove spec.selector',
  ],
  [
    "its type is ExternalName",
    { type: "ExternalName", externalName: "example.com" },
    "has the type ExternalName and therefore no endpoints",
  ],
  [
    "its targetPort is a name",
    { ports: [{ port: 80, targetPort: "http" }] },
    'port 80 targets the named container port "http"; give its number as 80=NUMBER',
  ],
])("rejects an unusable Service before the election: %s", async (_what, spec, message) => {
  if (spec) await cluster.addService("web", spec);
  await expect(gateOf().prepare?.()).rejects.toThrow(message);
});

it("uses the given number for a named target port", async () => {
  await cluster.addService("web", { ports: [{ name: "web", port: 80, targetPort: "http" }] });
  await gateOf({ ports: { web: 8080 } }).open(newTerm(5));
  expect((await slice()).ports).toMatchObject([{ name: "web", port: 8080 }]);
  await gateOf({ ports: 8081 }).open(newTerm(9));
  expect((await slice()).ports).toMatchObject([{ name: "web", port: 8081 }]);
});

it("does not change a slice that something else manages", async () => {
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

it("reports all invalid names and an invalid address together", () => {
  expect(() => gateOf({ service: "Web", address: "localhost" })).toThrow(
    /service must be .*; the name of the slice must be .*; address must be the IP address of the pod.*"localhost"/,
  );
});
