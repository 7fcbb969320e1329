import { expect, it } from "vitest";
import type { EndpointSlice } from "../../client/endpoint-objects.ts";
import type { Pod, Service } from "../../client/objects.ts";
import { node, pod } from "../../testing/fixtures.ts";
import { decideSlices, type NewSlice, sliceLabels } from "./slices.ts";

const service = (spec: Service["spec"] = {}): Service => ({
  metadata: { name: "web", namespace: "default", uid: "uid-web", resourceVersion: "1" },
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }], ...spec },
});
const member = (name: string, more: Parameters<typeof pod>[1] = {}): Pod =>
  pod(name, {
    ...more,
    metadata: { labels: { app: "web" }, ...more.metadata },
    status: { podIP: "10.0.0.1", ...more.status },
  });
const decide = (pods: Pod[], existing: EndpointSlice[] = [], wanted = service()) =>
  decideSlices(wanted, pods, existing, (name) =>
    node(name, { labels: { "topology.kubernetes.io/zone": "a" } }),
  );
/** The slice as it is stored. */
const stored = (name: string, slice: NewSlice): EndpointSlice => ({
  metadata: { name, namespace: "default", uid: name, resourceVersion: "1", labels: sliceLabels(service()) },
  ...slice,
});
const deletionTimestamp = "2030-01-01T00:00:00Z";

it.each<[string, Parameters<typeof pod>[1], Service["spec"], object]>([
  ["ready", { readyFor: 1 }, {}, { ready: true, serving: true, terminating: false }],
  ["not ready", {}, {}, { ready: false, serving: false, terminating: false }],
  [
    "stopping",
    { readyFor: 1, metadata: { deletionTimestamp } },
    {},
    { ready: false, serving: true, terminating: true },
  ],
  [
    "published anyway",
    {},
    { publishNotReadyAddresses: true },
    { ready: true, serving: false, terminating: false },
  ],
])("a pod that is %s", (_name, more, spec, conditions) => {
  const [slice] = decide(
    [member("a", { ...more, metadata: { labels: { app: "web" }, ...more?.metadata } })],
    [],
    service(spec),
  ).create;
  expect(slice?.endpoints).toMatchObject([{ addresses: ["10.0.0.1"], conditions, targetRef: { name: "a" } }]);
});

it.each<[string, Pod]>([
  ["without an address", pod("a", { metadata: { labels: { app: "web" } } })],
  ["that has ended", member("a", { status: { phase: "Succeeded" } })],
  ["with other labels", pod("a", { status: { podIP: "10.0.0.1" } })],
])("a pod %s is in no slice, and an empty slice says so", (_name, outsider) => {
  expect(decide([outsider]).create).toEqual([{ addressType: "IPv4", endpoints: [], ports: [] }]);
});

it("finds ports by their name in each pod, and separates pods with different numbers", () => {
  const named = service({ ports: [{ name: "http", port: 80, targetPort: "web" }] });
  const containers = (containerPort: number) => [{ name: "main", ports: [{ name: "web", containerPort }] }];
  const pods = [8080, 8080, 9090].map((port, index) =>
    member(`p${index}`, { spec: { containers: containers(port) } }),
  );
  const { create } = decide(pods, [], named);
  expect(create.map(({ ports, endpoints }) => [ports[0]?.port, endpoints.length])).toEqual([
    [8080, 2],
    [9090, 1],
  ]);
});

it("puts at most 100 endpoints into a slice", () => {
  const { create } = decide(Array.from({ length: 250 }, (_, index) => member(`p${index}`)));
  expect(create.map(({ endpoints }) => endpoints.length)).toEqual([100, 100, 50]);
});

it("changes only the slice of the pod that changed", () => {
  const pods = Array.from({ length: 150 }, (_, index) => member(`p${index}`));
  const existing = decide(pods).create.map((slice, index) => stored(`s${index}`, slice));
  expect(decide(pods, existing)).toEqual({ create: [], replace: [], delete: [] });
  const changed = pods.map((each) =>
    each.metadata.name === "p120" ? member("p120", { readyFor: 1 }) : each,
  );
  const { create, replace, delete: unwanted } = decide(changed, existing);
  expect([create, unwanted, replace.map(({ metadata }) => metadata.name)]).toEqual([[], [], ["s1"]]);
});

it("keeps one empty slice when the last pod is gone, and deletes the others", () => {
  const existing = decide([member("a")]).create.map((slice) => stored("s", slice));
  const { create, replace, delete: unwanted } = decide([], existing);
  expect(create).toEqual([{ addressType: "IPv4", endpoints: [], ports: [] }]);
  expect([replace, unwanted.map(({ metadata }) => metadata.name)]).toEqual([[], ["s"]]);
});

it("marks the slices of a headless Service", () => {
  expect(sliceLabels(service({ clusterIP: "None" }))).toMatchObject({ "service.kubernetes.io/headless": "" });
  expect(sliceLabels(service())).not.toHaveProperty("service.kubernetes.io/headless");
});
