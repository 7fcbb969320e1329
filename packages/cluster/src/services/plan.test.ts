import { describe, expect, it } from "vitest";
import type { Endpoint, EndpointSlice } from "../client/endpoint-objects.ts";
import type { Service } from "../client/objects.ts";
import { hostLines } from "./host-lines.ts";
import { planListeners } from "./plan.ts";

const meta = (name: string, more = {}) => ({
  name,
  namespace: "default",
  uid: name,
  resourceVersion: "1",
  ...more,
});
const service = (spec: Service["spec"], name = "web"): Service => ({
  metadata: meta(name),
  spec: { clusterIP: "10.96.3.4", ports: [{ name: "http", port: 80 }], ...spec },
});
const slice = (endpoints: Endpoint[]): EndpointSlice => ({
  metadata: meta("web-abc", { labels: { "kubernetes.io/service-name": "web" } }),
  addressType: "IPv4",
  ports: [{ name: "http", port: 3000 }],
  endpoints,
});
const ready = (address: string): Endpoint => ({ addresses: [address], conditions: { ready: true } });
const plan = (services: Service[], slices: EndpointSlice[]) =>
  [
    ...planListeners({
      services,
      slices,
      apiServer: { host: "127.0.0.1", port: 6443 },
      nodeAddress: "127.0.0.1",
    }),
  ].map(([key, { targets }]) => `${key} → ${targets.map(({ host, port }) => `${host}:${port}`).join(" ")}`);

describe("listeners", () => {
  it("only ready endpoints get connections", () => {
    const endpoints = [
      ready("10.244.0.2"),
      { addresses: ["10.244.0.3"], conditions: { ready: false } },
      { addresses: ["10.244.0.4"], conditions: { ready: false, serving: true, terminating: true } },
    ];
    expect(plan([service({})], [slice(endpoints)])).toEqual(["127.96.3.4:80 → 127.244.0.2:3000"]);
  });

  it("endpoints that terminate and still serve get connections if there are no others", () => {
    const endpoints = [
      { addresses: ["10.244.0.3"], conditions: { ready: false } },
      { addresses: ["10.244.0.4"], conditions: { ready: false, serving: true, terminating: true } },
    ];
    expect(plan([service({})], [slice(endpoints)])).toEqual(["127.96.3.4:80 → 127.244.0.4:3000"]);
  });

  it("a node port listens on the node, a headless service nowhere", () => {
    const nodePort = service({ type: "NodePort", ports: [{ name: "http", port: 80, nodePort: 30_080 }] });
    expect(plan([nodePort], [slice([ready("10.244.0.2")])])).toEqual([
      "127.96.3.4:80 → 127.244.0.2:3000",
      "127.0.0.1:30080 → 127.244.0.2:3000",
    ]);
    expect(plan([service({ clusterIP: "None" })], [slice([])])).toEqual([]);
  });

  it("a slice of another service or with another port does not count", () => {
    const other = {
      ...slice([ready("10.244.0.2")]),
      metadata: meta("x", { labels: { "kubernetes.io/service-name": "x" } }),
    };
    const named = service({ ports: [{ name: "metrics", port: 80 }] });
    expect(plan([service({})], [other])).toEqual(["127.96.3.4:80 → "]);
    expect(plan([named], [slice([ready("10.244.0.2")])])).toEqual(["127.96.3.4:80 → "]);
  });

  it("the service of the API server leads there", () => {
    const kubernetes = service(
      { clusterIP: "10.96.0.1", ports: [{ name: "https", port: 443 }] },
      "kubernetes",
    );
    expect(plan([kubernetes], [])).toEqual(["127.96.0.1:443 → 127.0.0.1:6443"]);
  });
});

describe("names", () => {
  const twin = (address: string) => address.replace(/^10/, "127");
  it("are short in the same namespace only", () => {
    const [own] = hostLines("default", [service({})], [], twin);
    expect(own).toBe("127.96.3.4\tweb.default.svc.cluster.local\tweb.default.svc\tweb.default\tweb");
    expect(hostLines("other", [service({})], [], twin)[0]?.endsWith("\tweb.default")).toBe(true);
  });

  it("of a headless service stand for its pods", () => {
    const endpoints = [
      { ...ready("10.244.0.2"), hostname: "web-0" },
      { addresses: ["10.244.0.3"], conditions: { ready: false } },
    ];
    const lines = hostLines("default", [service({ clusterIP: "None" })], [slice(endpoints)], twin);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("127.244.0.2\tweb-0.web.default.svc.cluster.local\t");
  });
});
