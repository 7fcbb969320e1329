import { ScriptedElection } from "@tenure/testkit";
import { beforeEach, expect, it } from "vitest";
import type { ChildChange, SupervisorSource } from "../source.ts";
import { PrometheusMetrics } from "./prometheus.ts";

class ScriptedSupervisor implements SupervisorSource {
  watchdog: { running: boolean; pid?: number } = { running: true, pid: 7 };
  readonly #listeners = new Map<string, (event: never) => void>();

  status() {
    return { watchdog: this.watchdog };
  }

  on(name: string, listener: (event: never) => void): () => void {
    this.#listeners.set(name, listener);
    return () => this.#listeners.delete(name);
  }

  child(event: ChildChange): void {
    this.#listeners.get("child")?.(event as never);
  }

  checked(failures: number): void {
    this.#listeners.get("health")?.({ failures } as never);
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

let supervisor: ScriptedSupervisor;
let metrics: PrometheusMetrics;
let stop: () => void;

beforeEach(async () => {
  supervisor = new ScriptedSupervisor();
  metrics = await PrometheusMetrics.create({ name: "web" });
  stop = metrics.observe({
    election: new ScriptedElection(),
    supervisor,
    child: () => ({ ready: true, restarts: 0 }),
  });
});

const lines = async (metric: string) =>
  (await metrics.render()).split("\n").filter((line) => line.startsWith(`${metric}{`));

it("counts restarts over all terms, also those of terms that began and ended between two scrapes", async () => {
  expect(await lines("tenure_child_restarts_total")).toEqual(['tenure_child_restarts_total{name="web"} 0']);
  for (const restarts of [0, 1, 2, 0, 1, 2]) supervisor.child({ type: "started", restarts });
  expect(await lines("tenure_child_restarts_total")).toEqual(['tenure_child_restarts_total{name="web"} 4']);
});

it("counts exits by code and by signal", async () => {
  const exits = [
    { code: 0, signal: undefined },
    { code: 3, signal: undefined },
    { code: 3, signal: undefined },
    { code: undefined, signal: "SIGKILL" },
  ];
  for (const exit of exits) {
    supervisor.child({ type: "exited", exit });
    supervisor.child({ type: "stopped", exit });
  }
  expect(await lines("tenure_child_exits_total")).toEqual([
    'tenure_child_exits_total{name="web",code="0",signal=""} 1',
    'tenure_child_exits_total{name="web",code="3",signal=""} 2',
    'tenure_child_exits_total{name="web",code="",signal="SIGKILL"} 1',
  ]);
});

it("counts failed health checks, not the recovery", async () => {
  for (const failures of [1, 2, 0, 1]) supervisor.checked(failures);
  expect(await lines("tenure_child_check_failures_total")).toEqual([
    'tenure_child_check_failures_total{name="web"} 3',
  ]);
});

it("reports whether the watchdog runs, and how often it was replaced", async () => {
  expect(await lines("tenure_watchdog_running")).toEqual(['tenure_watchdog_running{name="web"} 1']);
  supervisor.watchdog = { running: false };
  expect(await lines("tenure_watchdog_running")).toEqual(['tenure_watchdog_running{name="web"} 0']);
  supervisor.watchdog = { running: true, pid: 8 };
  supervisor.child({ type: "started", restarts: 0 });
  supervisor.watchdog = { running: true, pid: 9 };
  expect(await lines("tenure_watchdog_replacements_total")).toEqual([
    'tenure_watchdog_replacements_total{name="web"} 2',
  ]);
});

it("counts failures of gates", async () => {
  metrics.gateFailed("label", "open");
  metrics.gateFailed("label", "close");
  metrics.gateFailed("label", "close");
  expect(await lines("tenure_gate_failures_total")).toEqual([
    'tenure_gate_failures_total{name="web",gate="label",action="open"} 1',
    'tenure_gate_failures_total{name="web",gate="label",action="close"} 2',
  ]);
});

it("stops listening", () => {
  stop();
  expect(supervisor.listeners).toBe(0);
});
