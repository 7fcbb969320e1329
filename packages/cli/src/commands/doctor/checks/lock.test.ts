import { describe, expect, it } from "vitest";
import type { ElectionState } from "../../../elections/state.ts";
import { stateOf } from "../../../elections/state.ts";
import { factsWith } from "../../../testing/doctor-facts.ts";
import { adviceFor } from "../advice.ts";
import { checkOrders, checkRecord } from "./lock.ts";

const nowMs = Date.UTC(2026, 0, 5);
const inStore = adviceFor({
  namespace: "postgres",
  flags: {},
  isStore: true,
  lock: "postgres://app@db/app",
  isPod: false,
  sandboxKubeconfig: "",
});
const { advice: inCluster } = factsWith();

const stateWith = (annotations: Record<string, string>, kind: "lease" | "configmap" = "lease") =>
  stateOf(
    kind,
    { metadata: { name: "billing", namespace: "prod", annotations }, spec: {} },
    nowMs,
  ) as ElectionState;

describe("a lock that nobody can read", () => {
  const broken = stateWith({ "control-plane.alpha.kubernetes.io/leader": "{" }, "configmap");
  it("in the cluster: a command removes the record", () =>
    expect(checkRecord(broken, inCluster)[0]?.command).toBe(
      "kubectl annotate configmap billing control-plane.alpha.kubernetes.io/leader- -n prod",
    ));
  it("in a store: no kubectl", () => {
    const [report] = checkRecord(broken, inStore);
    expect(report).toMatchObject({ check: "record", verdict: "finding" });
    expect(JSON.stringify(report)).not.toContain("kubectl");
  });
});

describe("orders", () => {
  const paused = stateWith({ "tenure.dev/paused": "true" });
  it.each([
    [inCluster, "tenure resume billing -n prod"],
    [inStore, "tenure resume billing --lock postgres://app@db/app"],
  ])("a forgotten pause is resumed where the lock is", (advice, command) => {
    expect(checkOrders(paused, nowMs, advice)[0]?.command).toBe(command);
  });

  it("an unanswered transfer is withdrawn with kubectl only in a cluster", () => {
    const asked = stateWith({ "tenure.dev/transfer": "0/b" });
    const of = (advice: typeof inStore) =>
      checkOrders(asked, nowMs, advice).find(({ verdict }) => verdict === "hint");
    expect(of(inCluster)?.command).toBe("kubectl annotate lease billing tenure.dev/transfer- -n prod");
    expect(of(inStore)?.fix).toBe("stop the leader in another way: the order ends with its term");
    expect(of(inStore)?.command).toBeUndefined();
  });
});
