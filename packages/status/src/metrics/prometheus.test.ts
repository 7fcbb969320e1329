import { VirtualClock } from "@tenure/base/virtual-clock";
import { newReplica, ScriptedElection } from "@tenure/testkit";
import { expect, it } from "vitest";
import { metricsCatalogue } from "./catalogue.ts";
import { PrometheusMetrics } from "./prometheus.ts";

/** The value of the first line with this name and these labels. */
function metricValue(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split("\n")
    .find(
      (each) =>
        (each.startsWith(`${name}{`) || each.startsWith(`${name} `)) &&
        Object.entries(labels).every(([key, value]) => each.includes(`${key}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

it("exports exactly the metrics of the catalogue", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  const text = await metrics.render();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(types.sort()).toEqual(metricsCatalogue.map(({ name, type }) => `${name} ${type}`).sort());
});

it("uses the metric names of client-go, and exports losses from 0 on", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  const text = await metrics.render();
  expect(text).toContain('leader_election_master_status{name="web"} 0');
  expect(text).toContain('leader_election_slowpath_total{name="web"} 0');
  for (const reason of ["renew-deadline", "taken-over", "lock-deleted", "overwritten", "stop-timeout"])
    expect(text).toContain(`tenure_losses_total{name="web",reason="${reason}"} 0`);
});

it("measures a term, its renewals, a step-down and a loss", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  const member = newReplica({ metrics });
  metrics.observe({ election: member.election });
  const own = member.clock;
  member.run();
  await own.until(() => member.terms.length === 1);
  await own.pass(10_000);
  let text = await metrics.render();
  expect(metricValue(text, "leader_election_master_status")).toBe(1);
  expect(metricValue(text, "tenure_terms_total")).toBe(1);
  expect(metricValue(text, "tenure_phase", { phase: "leader" })).toBe(1);
  expect(metricValue(text, "tenure_phase", { phase: "follower" })).toBe(0);
  expect(metricValue(text, "tenure_lease_remaining_seconds")).toBeGreaterThan(10);
  expect(metricValue(text, "tenure_lock_request_duration_seconds_count", { operation: "renew" })).toBe(3);
  expect(metricValue(text, "leader_election_slowpath_total")).toBe(0);
  member.election.stepDown();
  await own.until(() => member.terms.length === 2);
  text = await metrics.render();
  expect(metricValue(text, "tenure_handovers_total", { reason: "step-down" })).toBe(1);
  expect(metricValue(text, "tenure_handover_duration_seconds_count")).toBe(1);
  expect(metricValue(text, "tenure_leaderless_seconds_count")).toBe(1);
  member.lock.cut();
  await own.pass(20_000);
  text = await metrics.render();
  expect(metricValue(text, "tenure_losses_total", { reason: "renew-deadline" })).toBe(1);
  expect(metricValue(text, "tenure_lock_request_failures_total", { operation: "renew" })).toBeGreaterThan(0);
  expect(metricValue(text, "tenure_handover_duration_seconds_count")).toBe(1);
  expect(metricValue(text, "leader_election_master_status")).toBe(0);
  expect(metricValue(text, "tenure_phase", { phase: "follower" })).toBe(1);
});

it("measures a handover from the request to stop until the release", async () => {
  const clock = new VirtualClock();
  const election = new ScriptedElection({ clock });
  const metrics = await PrometheusMetrics.create({ name: "web", clock });
  const end = metrics.observe({ election });
  election.win({ token: 7n, lastsMs: 9_000 });
  election.askToStop();
  await clock.pass(3_000);
  election.end();
  await clock.pass(500);
  election.follow("b");
  const text = await metrics.render();
  expect(metricValue(text, "tenure_handover_duration_seconds_sum")).toBe(3);
  expect(metricValue(text, "tenure_leaderless_seconds_sum")).toBe(0.5);
  end();
  expect(election.listeners).toBe(0);
});

it("counts a read by a leader, as client-go does", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.request("read", 1);
  metrics.leading(true);
  metrics.request("read", 1);
  expect(metricValue(await metrics.render(), "leader_election_slowpath_total")).toBe(1);
});

it("never decreases the restarts of the child, although a supervisor restarts its count with each term", async () => {
  let restarts = 0;
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.observe({ election: new ScriptedElection(), child: () => ({ ready: true, restarts }) });
  const seen: (number | undefined)[] = [];
  for (const count of [0, 2, 3, 1, 1]) {
    restarts = count;
    seen.push(metricValue(await metrics.render(), "tenure_child_restarts_total"));
  }
  expect(seen).toEqual([0, 2, 3, 4, 4]);
});

it("reports the health of the election", async () => {
  const election = new ScriptedElection();
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.observe({ election });
  expect(metricValue(await metrics.render(), "tenure_healthy")).toBe(1);
  election.nextHealth = { healthy: false, message: "cut off" };
  expect(metricValue(await metrics.render(), "tenure_healthy")).toBe(0);
});

it("counts this replica as a candidate until it shuts down", async () => {
  let phase = "follower";
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.observe({ election: new ScriptedElection(), phase: () => phase });
  expect(metricValue(await metrics.render(), "tenure_candidate")).toBe(1);
  phase = "terminating";
  expect(metricValue(await metrics.render(), "tenure_candidate")).toBe(0);
});

it("keeps two instances in one process apart", async () => {
  const [one, other] = await Promise.all(["one", "other"].map((name) => PrometheusMetrics.create({ name })));
  one?.leading(true);
  expect(await other?.render()).not.toContain('name="one"');
});
