import { describe, expect, it } from "vitest";
import type { Pod } from "./pods.ts";
import { hasWaitingPods, leaderOnlyProbe, leaderOnlyReadiness } from "./probes.ts";
import type { Container, Workload } from "./workload.ts";

const container = (more: Partial<Container>): Container => ({ name: "app", ...more });
const workload = (...containers: Container[]): Workload => ({
  kind: "Deployment",
  metadata: { name: "billing" },
  spec: { selector: { matchLabels: { app: "billing" } }, template: { spec: { containers } } },
});

describe("a readiness probe that only the leader passes", () => {
  const exec = (...command: string[]) => ({ readinessProbe: { exec: { command } } });
  const httpGet = (path: string) => ({ readinessProbe: { httpGet: { path } } });

  it.each([
    [exec("cat", "/tmp/ready")],
    [exec("sh", "-c", "test -f /tmp/ready")],
    [{ ...exec("cat", "/run/leader"), args: ["run", "--ready-file=/run/leader"] }],
    [exec("tenure", "probe", "--lease", "billing")],
    [exec("sh", "-c", 'tenure probe --file /etc/leader/leader --contains "$POD_NAME"')],
    [httpGet("/readyz?mode=leader")],
    [{ ...httpGet("/readyz"), args: ["run", "--status-ready=leader"] }],
    [exec("sh", "-c", "/check-leader.sh")],
    [exec("sh", "-c", "curl -s http://localhost:4040 | grep $HOSTNAME")],
    [httpGet("/isLeader")],
    [httpGet("/health/leader")],
  ])("%j", (more) => {
    expect(leaderOnlyProbe(workload(container(more)), "readinessProbe")).toBeDefined();
  });

  it.each([
    [exec("true")],
    [httpGet("/readyz")],
    [{ ...httpGet("/readyz"), args: ["run", "--status-ready=always"] }],
    [{ ...httpGet("/readyz"), args: ["run", "--status-ready=elected"] }],
    [exec("cat", "/tmp/ready-to-work")],
    [httpGet("/healthz/leaderElection")],
    [httpGet("/readyz?leader-election=1")],
    [{}],
  ])("not %j", (more) => {
    expect(leaderOnlyProbe(workload(container(more)), "readinessProbe")).toBeUndefined();
  });
});

it("knows the file of a sidecar in the probe of the application", () => {
  const sidecar = container({ name: "tenure", args: ["sidecar", "--ready-file=/shared/up"] });
  const app = container({ readinessProbe: { exec: { command: ["test", "-f", "/shared/up"] } } });
  expect(leaderOnlyProbe(workload(app, sidecar), "readinessProbe")).toBe(
    "its readiness probe checks /shared/up",
  );
  expect(leaderOnlyProbe(workload(app), "readinessProbe")).toBeUndefined();
});

describe("what the pods show counts more than the probe", () => {
  const nowMs = Date.UTC(2026, 0, 1, 1);
  const pod = (name: string, status: "True" | "False", agoMs: number, more: object = {}): Pod => ({
    metadata: { name, labels: { app: "billing" } },
    spec: { containers: [] },
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status, lastTransitionTime: new Date(nowMs - agoMs).toISOString() }],
      ...more,
    },
  });
  const held = { leader: "a", heldForMs: 600_000 };
  const custom = container({ readinessProbe: { httpGet: { path: "/ok" } } });
  const asking = container({ readinessProbe: { httpGet: { path: "/leader" } } });
  const leader = pod("a", "True", 600_000);

  it("finds that only the leader is Ready, whatever the probe asks", () => {
    const pods = [leader, pod("b", "False", 300_000), pod("c", "False", 400_000)];
    expect(leaderOnlyReadiness(workload(custom), pods, held, nowMs)).toBe(
      "its standbys run, but have not been Ready for 5m",
    );
  });

  it.each([
    ["a standby has just started", [leader, pod("b", "False", 10_000)], held],
    [
      "a standby crashes",
      [leader, pod("b", "False", 300_000, { containerStatuses: [{ restartCount: 4 }] })],
      held,
    ],
    ["the leader is not Ready either", [pod("a", "False", 300_000), pod("b", "False", 300_000)], held],
    ["leadership has just moved", [leader, pod("b", "False", 300_000)], { leader: "a", heldForMs: 5_000 }],
    ["there are no standbys", [leader], held],
  ])("does not conclude that if %s", (_why, pods, state) => {
    expect(leaderOnlyReadiness(workload(custom), pods, state, nowMs)).toBeUndefined();
  });

  it("believes two pods that are Ready, if the leader is not known", () => {
    const two = [pod("a", "True", 300_000), pod("b", "True", 300_000)];
    expect(leaderOnlyReadiness(workload(asking), two, {}, nowMs)).toBeUndefined();
    expect(leaderOnlyReadiness(workload(asking), two.slice(1), {}, nowMs)).toBeDefined();
  });

  it("knows pods that wait", () => {
    expect(hasWaitingPods(workload(asking), [leader, pod("b", "False", 300_000)], nowMs)).toBe(true);
    expect(hasWaitingPods(workload(asking), [leader, pod("b", "False", 3_000)], nowMs)).toBe(false);
    expect(hasWaitingPods(workload(asking), undefined, nowMs)).toBe(false);
  });

  it("believes a standby that is Ready", () => {
    expect(
      leaderOnlyReadiness(workload(asking), [leader, pod("b", "True", 300_000)], held, nowMs),
    ).toBeUndefined();
    // It may have led until a moment ago.
    expect(
      leaderOnlyReadiness(workload(asking), [leader, pod("b", "True", 5_000)], held, nowMs),
    ).toBeDefined();
  });
});
