import { VirtualClock } from "@tenure/base/virtual-clock";
import { newReplica, ScriptedElection } from "@tenure/testkit";
import { expect, it } from "vitest";
import { metricsCatalogue } from "./catalogue.ts";
import { PrometheusMetrics } from "./prometheus.ts";

/** The value of a line, by its name and some of its labels. */
function figure(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  const line = text
    .split("\n")
    .find(
      (each) =>
        (each.startsWith(`${name}{`) || each.startsWith(`${name} `)) &&
        Object.entries(labels).every(([key, value]) => each.includes(`${key}="${value}"`)),
    );
  return line === undefined ? undefined : Number(line.split(" ").at(-1));
}

it("everything of the catalogue is there, and nothing else", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  const text = await metrics.render();
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  expect(types.sort()).toEqual(metricsCatalogue.map(({ name, type }) => `${name} ${type}`).sort());
});

it("client-go's names, with the election's name, and losses from 0 on", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  const text = await metrics.render();
  expect(text).toContain('leader_election_master_status{name="web"} 0');
  expect(text).toContain('leader_election_slowpath_total{name="web"} 0');
  for (const reason of ["renew-deadline", "taken-over", "lock-deleted", "overwritten"])
    expect(text).toContain(`tenure_losses_total{name="web",reason="${reason}"} 0`);
});

it("a whole life: a term, renewals, a step-down, a loss", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  const member = newReplica({ metrics });
  metrics.observe({ election: member.election });
  const own = member.clock;
  member.run();
  await own.until(() => member.terms.length === 1);
  await own.pass(10_000);
  let text = await metrics.render();
  expect(figure(text, "leader_election_master_status")).toBe(1);
  expect(figure(text, "tenure_terms_total")).toBe(1);
  expect(figure(text, "tenure_phase", { phase: "leader" })).toBe(1);
  expect(figure(text, "tenure_phase", { phase: "follower" })).toBe(0);
  expect(figure(text, "tenure_lease_remaining_seconds")).toBeGreaterThan(10);
  expect(figure(text, "tenure_lock_request_duration_seconds_count", { operation: "renew" })).toBe(3);
  expect(figure(text, "leader_election_slowpath_total")).toBe(0);
  member.election.stepDown();
  await own.until(() => member.terms.length === 2);
  text = await metrics.render();
  expect(figure(text, "tenure_handovers_total", { reason: "step-down" })).toBe(1);
  expect(figure(text, "tenure_handover_duration_seconds_count")).toBe(1);
  expect(figure(text, "tenure_leaderless_seconds_count")).toBe(1);
  member.lock.cut();
  await own.pass(20_000);
  text = await metrics.render();
  expect(figure(text, "tenure_losses_total", { reason: "renew-deadline" })).toBe(1);
  expect(figure(text, "tenure_lock_request_failures_total", { operation: "renew" })).toBeGreaterThan(0);
  expect(figure(text, "tenure_handover_duration_seconds_count")).toBe(1);
  expect(figure(text, "leader_election_master_status")).toBe(0);
  expect(figure(text, "tenure_phase", { phase: "follower" })).toBe(1);
});

it("handovers are measured from the word to stop until the release", async () => {
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
  expect(figure(text, "tenure_handover_duration_seconds_sum")).toBe(3);
  expect(figure(text, "tenure_leaderless_seconds_sum")).toBe(0.5);
  end();
  expect(election.listeners).toBe(0);
});

it("a leader that has to read before it can renew is counted as client-go counts it", async () => {
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.request("read", 1);
  metrics.leading(true);
  metrics.request("read", 1);
  expect(figure(await metrics.render(), "leader_election_slowpath_total")).toBe(1);
});

it("restarts of the child only grow, though a supervisor counts them anew with each term", async () => {
  let restarts = 0;
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.observe({ election: new ScriptedElection(), child: () => ({ ready: true, restarts }) });
  const seen: (number | undefined)[] = [];
  for (const count of [0, 2, 3, 1, 1]) {
    restarts = count;
    seen.push(figure(await metrics.render(), "tenure_child_restarts_total"));
  }
  expect(seen).toEqual([0, 2, 3, 4, 4]);
});

it("is unhealthy when the election is", async () => {
  const election = new ScriptedElection();
  const metrics = await PrometheusMetrics.create({ name: "web" });
  metrics.observe({ election });
  expect(figure(await metrics.render(), "tenure_healthy")).toBe(1);
  election.nextHealth = { healthy: false, message: "cut off" };
  expect(figure(await metrics.render(), "tenure_healthy")).toBe(0);
});

it("two of them in one process do not meet", async () => {
  const [one, other] = await Promise.all(["one", "other"].map((name) => PrometheusMetrics.create({ name })));
  one?.leading(true);
  expect(await other?.render()).not.toContain('name="one"');
});
