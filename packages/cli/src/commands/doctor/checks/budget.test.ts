import { describe, expect, it } from "vitest";
import { deploymentOf, factsWith } from "../../../testing/doctor-facts.ts";
import type { Budget } from "../snapshot.ts";
import { checkReplicas } from "./budget.ts";

const budget = (spec: object, labels = { app: "billing" }): Budget => ({
  metadata: { name: "limit" },
  spec: { selector: { matchLabels: labels }, ...spec },
});
const check = (budgets: Budget[], containers = [{}], spec = {}) =>
  checkReplicas(deploymentOf(containers, spec), factsWith({ budgets }));
const leaderOnly = [{ readinessProbe: { exec: { command: ["cat", "/tmp/ready"] } } }];

describe("a PodDisruptionBudget", () => {
  it.each([
    [{ maxUnavailable: 0 }],
    [{ maxUnavailable: "0%" }],
    [{ minAvailable: 3 }],
    [{ minAvailable: "100%" }],
    [{ minAvailable: "90%" }],
    [{}],
  ])("%j blocks every drain of three replicas", (spec) => {
    const [report, ...more] = check([budget(spec)]);
    expect(more).toEqual([]);
    expect(report).toMatchObject({ check: "budget", verdict: "finding" });
    expect(report?.command).toBe(
      `kubectl patch poddisruptionbudget/limit --type=merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}' -n prod`,
    );
  });

  it.each([
    [{ maxUnavailable: 1 }],
    [{ minAvailable: 2 }],
    [{ minAvailable: "50%" }],
    [{ maxUnavailable: "1%" }],
  ])("%j lets one pod go", (spec) =>
    expect(check([budget(spec)])).toMatchObject([{ check: "replicas", verdict: "ok" }]),
  );

  it.each([[{ maxUnavailable: 1 }], [{ minAvailable: 1 }]])(
    "%j keeps the leader forever if only the leader is Ready",
    (spec) => {
      const [report] = check([budget(spec)], leaderOnly);
      expect(report).toMatchObject({ check: "budget", verdict: "finding" });
      expect(report?.what).toContain("it is the only Ready pod");
    },
  );

  it("is not advised where it would block drains, and where drains stop no pods", () => {
    expect(check([], leaderOnly)).toMatchObject([{ verdict: "ok" }]);
    expect(check([], [{}], { kind: "DaemonSet" })).toMatchObject([{ verdict: "ok" }]);
  });

  it("is advised otherwise, with a manifest to apply", () => {
    const [report] = check([budget({ maxUnavailable: 1 }, { app: "other" })]);
    expect(report).toMatchObject({ check: "replicas", verdict: "hint" });
    expect(report?.command).toContain('selector: {matchLabels: {"app":"billing"}}');
  });
});

it("hints at a pod that nothing starts again, but not at a static pod", () => {
  const bare = { ...deploymentOf([{}]), kind: "Pod" };
  expect(checkReplicas(bare, factsWith())[0]).toMatchObject({ verdict: "hint" });
  const ownerReferences = [{ kind: "Node", name: "node-a", controller: true }];
  const fixed = { ...bare, metadata: { ...bare.metadata, ownerReferences } };
  expect(checkReplicas(fixed, factsWith())[0]).toMatchObject({ verdict: "ok" });
});
