import { expect, it } from "vitest";
import { deploymentOf, factsWith } from "../../../testing/doctor-facts.ts";
import { checkServices } from "./services.ts";

const service = (name: string, selector?: Record<string, string>) => ({
  metadata: { name },
  spec: { ...(selector && { selector }) },
});
const check = (flag: string, ...services: ReturnType<typeof service>[]) =>
  checkServices(
    deploymentOf([{ args: ["run", "--lease-lock-name=billing", flag] }]),
    factsWith({ services }),
  );
const app = { app: "billing" };
const leader = { ...app, "tenure.dev/role": "leader" };

it("finds a Service that reaches standbys", () => {
  expect(check("--label", service("web", app))).toMatchObject([
    {
      verdict: "finding",
      what: "no Service selects the leader of Deployment billing by its label: web sends traffic to standbys too",
      command: `kubectl patch service/web --type=merge -p '{"spec":{"selector":{"tenure.dev/role":"leader"}}}' -n prod`,
    },
  ]);
});

it("accepts a second Service for all replicas, Services of others, and none at all", () => {
  expect(check("--label", service("web", leader), service("metrics", app))).toMatchObject([
    { verdict: "ok" },
  ]);
  expect(check("--label", service("other", { app: "other" }))).toEqual([]);
  expect(check("--label")).toEqual([]);
  expect(check("--announce", service("web", app))).toEqual([]);
});

it("finds a selector of the Service whose addresses the leader writes", () => {
  expect(check("--service=web", service("web", app))).toMatchObject([
    {
      verdict: "finding",
      what: "Service web has a selector, so Kubernetes adds every replica to it beside the leader",
    },
  ]);
  expect(check("--service=web", service("web"))).toMatchObject([{ verdict: "ok" }]);
  expect(check("--service=web")).toMatchObject([
    { verdict: "finding", what: "Service web does not exist, but --service names it" },
  ]);
});
