import { expect, it } from "vitest";
import type { Service } from "../../client/objects.ts";
import { pod } from "../../testing/fixtures.ts";
import { subsetsOf } from "./subsets.ts";

const service: Service = {
  metadata: { name: "web", namespace: "default", uid: "uid-web", resourceVersion: "1" },
  spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }] },
};
const labels = { app: "web" };
const status = (podIP: string) => ({ podIP });

it("separates ready addresses from those that are not, and leaves out what is stopping", () => {
  const deletionTimestamp = "2030-01-01T00:00:00Z";
  const pods = [
    pod("b", { readyFor: 1, metadata: { labels }, status: status("10.0.0.2") }),
    pod("a", { readyFor: 1, metadata: { labels }, status: status("10.0.0.1") }),
    pod("c", { metadata: { labels }, status: status("10.0.0.3") }),
    pod("d", { readyFor: 1, metadata: { labels, deletionTimestamp }, status: status("10.0.0.4") }),
  ];
  expect(subsetsOf(service, pods)).toMatchObject([
    {
      addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }],
      notReadyAddresses: [{ ip: "10.0.0.3" }],
      ports: [{ port: 8080, protocol: "TCP" }],
    },
  ]);
});

it("is empty without pods", () => {
  expect(subsetsOf(service, [])).toEqual([]);
});
