import { expect, it } from "vitest";
import { factsWith } from "../../../testing/doctor-facts.ts";
import type { Pod } from "../pods.ts";
import type { Workload } from "../workload.ts";
import { checkUnelected } from "./unelected.ts";

const elected = { name: "app", args: ["run", "--lease-lock-name=billing", "--", "node", "worker.js"] };
const plain = { name: "app", command: ["node", "worker.js"] };
const labels = { app: "billing" };

const workload: Workload = {
  kind: "Deployment",
  metadata: { name: "billing", namespace: "prod" },
  spec: { selector: { matchLabels: labels }, template: { spec: { containers: [elected] } } },
};
const pod = (name: string, container: typeof elected | typeof plain, more: Partial<Pod> = {}): Pod => ({
  metadata: { name, labels },
  spec: { containers: [container] },
  ...more,
});
const check = (...pods: Pod[]) => checkUnelected(workload, factsWith({ pods }));

it("finds pods of the workload that know no election", () => {
  const [report, ...more] = check(pod("new", elected), pod("old-1", plain), pod("old-2", plain));
  expect(more).toEqual([]);
  expect(report).toMatchObject({ check: "unelected", verdict: "finding" });
  expect(report?.what).toBe(
    "2 pods of Deployment billing run without the election, beside the leader: old-1, old-2",
  );
  expect(report?.command).toBe("kubectl scale deployment/billing --replicas=0 -n prod");
});

it("finds nothing if all take part, if the pod has ended, or if it belongs to another workload", () => {
  expect(check(pod("new", elected))).toEqual([]);
  expect(check(pod("ended", plain, { status: { phase: "Succeeded" } }))).toEqual([]);
  expect(check(pod("other", plain, { metadata: { name: "other", labels: { app: "web" } } }))).toEqual([]);
});

it("finds nothing if a sidecar takes part for the application", () => {
  const beside = pod("new", elected);
  expect(check({ ...beside, spec: { containers: [plain], initContainers: [elected] } })).toEqual([]);
});

it("does not judge a workload whose flags do not name the election, because it may use the library", () => {
  const library = { ...workload, spec: { ...workload.spec, template: { spec: { containers: [plain] } } } };
  expect(checkUnelected(library, factsWith({ pods: [pod("old", plain)] }))).toEqual([]);
});
