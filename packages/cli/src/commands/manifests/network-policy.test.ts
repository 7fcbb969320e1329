import { expect, it } from "vitest";
import { objectsFor } from "./objects.ts";
import type { ManifestOptions } from "./options.ts";

const specOf = (options: Partial<ManifestOptions>) =>
  objectsFor({
    name: "billing",
    namespace: "prod",
    image: "x:1",
    command: ["x"],
    networkPolicy: true,
    ...options,
  }).find(({ kind }) => kind === "NetworkPolicy")?.spec;

it("lets no pod connect if there is no port and nobody scrapes: probes come from the node", () => {
  expect(specOf({})).toEqual({
    podSelector: { matchLabels: { "app.kubernetes.io/name": "billing" } },
    policyTypes: ["Ingress"],
    ingress: [],
  });
});

it("lets everybody connect to the application, and only one namespace to the status port", () => {
  expect(specOf({ port: 3000, statusPort: 9000, scrapeNamespace: "monitoring" })).toMatchObject({
    ingress: [
      { ports: [{ port: 3000 }] },
      {
        from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
        ports: [{ port: 9000 }],
      },
    ],
  });
});

it("is not printed unless asked for", () => {
  expect(specOf({ networkPolicy: false })).toBeUndefined();
});

it.each([
  [{ networkPolicy: false, scrapeNamespace: "monitoring" }, "--scrape-namespace requires --network-policy"],
  [
    { scrapeNamespace: "Monitoring" },
    '--scrape-namespace must be the name of a namespace, but is "Monitoring"',
  ],
])("rejects %o", (options, problem) => {
  expect(() => specOf(options)).toThrow(problem);
});
