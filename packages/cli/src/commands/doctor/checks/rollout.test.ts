import { describe, expect, it } from "vitest";
import { deploymentOf, factsWith } from "../../../testing/doctor-facts.ts";
import { checkLiveness, checkRollout } from "./rollout.ts";

const probing = (...command: string[]) => ({ readinessProbe: { exec: { command } } });
type Spec = NonNullable<Parameters<typeof deploymentOf>[1]>;
const report = (spec: Spec, ...command: string[]) =>
  checkRollout(deploymentOf([probing(...command)], spec), factsWith());
const all = { strategy: { rollingUpdate: { maxUnavailable: "100%", maxSurge: 0 } } };

describe("checkRollout", () => {
  it.each([[all], [{ strategy: { type: "Recreate" } }]])(
    "warns that kubectl rollout status never succeeds if only the leader is Ready: %j",
    (spec) => {
      const { verdict, what, command } = report(spec, "cat", "/tmp/ready");
      expect(verdict).toBe("hint");
      expect(what).toContain("kubectl rollout status never succeeds: it waits for 3 Ready replicas");
      expect(command).toBe(
        "kubectl wait deployment/billing --for=jsonpath='{.status.readyReplicas}'=1 -n prod",
      );
    },
  );

  it("finds a rollout that hangs, with the command that ends it", () => {
    const { verdict, command } = report({}, "cat", "/tmp/ready");
    expect(verdict).toBe("finding");
    expect(command).toBe(
      `kubectl patch deployment/billing --type=merge -p '{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}' -n prod`,
    );
  });

  it.each(["StatefulSet", "DaemonSet"])("finds that a rollout of a %s never stops the old leader", (kind) => {
    const { verdict, what, command } = report({ kind }, "cat", "/tmp/ready");
    expect(verdict).toBe("finding");
    expect(what).toContain("stops it only when the new pods are Ready");
    expect(command).toContain('"updateStrategy":{"type":"OnDelete"');
    expect(report({ kind, updateStrategy: { type: "OnDelete" } }, "cat", "/tmp/ready").verdict).toBe("hint");
  });

  it("knows that a DaemonSet may stop all its pods at once", () => {
    const updateStrategy = { rollingUpdate: { maxUnavailable: "100%" } };
    expect(report({ kind: "DaemonSet", updateStrategy }, "cat", "/tmp/ready").verdict).toBe("hint");
    expect(report({ kind: "StatefulSet", updateStrategy }, "cat", "/tmp/ready").verdict).toBe("finding");
  });

  it("is satisfied if standbys are Ready, or if there is one replica that a rollout may stop", () => {
    expect(report(all, "true").verdict).toBe("ok");
    expect(report({ ...all, replicas: 1 }, "cat", "/tmp/ready").verdict).toBe("ok");
  });
});

describe("checkLiveness", () => {
  const check = (probe: object) => checkLiveness(deploymentOf([probe]), factsWith());
  it.each([
    [{ livenessProbe: { httpGet: { path: "/readyz?mode=leader" } } }],
    [{ livenessProbe: { exec: { command: ["/check-leader.sh"] } } }],
    [{ startupProbe: { exec: { command: ["cat", "/tmp/ready"] } }, args: ["run", "--lease-lock-name=x"] }],
  ])("finds %j, which restarts standbys", (probe) => {
    expect(check(probe)).toEqual([expect.objectContaining({ check: "liveness", verdict: "finding" })]);
  });
  it.each([
    [{ livenessProbe: { httpGet: { path: "/livez" } } }],
    [{ livenessProbe: { exec: { command: ["cat", "/tmp/ready"] } } }],
    [{ livenessProbe: { httpGet: { path: "/healthz/leaderElection" } } }],
    [{ readinessProbe: { httpGet: { path: "/readyz?mode=leader" } } }],
  ])("accepts %j", (probe) => expect(check(probe)).toEqual([]));
});
