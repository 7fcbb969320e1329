/**
 * The metrics of an election for Prometheus. prom-client is loaded only when an instance is created. Each instance has its
 * own registry instead of the global one, so that it does not mix with the metrics of the application.
 */
import { type Clock, onAbort, systemClock } from "@tenure/base";
import type { ElectionMetrics, EndReason, Failure, RequestKind } from "@tenure/election";
import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import { healthOf } from "../health.ts";
import type { StatusSource } from "../source.ts";
import { type MetricName, metricsCatalogue } from "./catalogue.ts";
import { SupervisorCounts } from "./supervisor-counts.ts";

export interface PrometheusOptions {
  /** The name of the election, for the label `name`. */
  readonly name: string;
  /** @default the system clock */
  readonly clock?: Clock;
}

type Metric = Counter | Gauge | Histogram;

const losses: readonly EndReason[] = [
  "renew-deadline",
  "taken-over",
  "lock-deleted",
  "overwritten",
  "stop-timeout",
];
const handovers: readonly EndReason[] = ["step-down", "shutdown", "work-ended"];
const phases = ["follower", "pre-leader", "leader", "pre-follower", "terminating"];
/** In seconds. A lock responds within milliseconds, or only after its time-out. */
const requestBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** In seconds. From an immediate release to work that takes 25 s to stop, or a lease that has to expire. */
const handoverBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

export class PrometheusMetrics implements ElectionMetrics {
  readonly contentType: string;
  readonly #registry: Registry;
  readonly #metrics: ReadonlyMap<string, Metric>;
  readonly #name: string;
  readonly #clock: Clock;
  #isLeading = false;
  #source: StatusSource | undefined;
  #supervisor: SupervisorCounts | undefined;
  #childRestarts = 0;

  private constructor(
    registry: Registry,
    metrics: ReadonlyMap<string, Metric>,
    { name, clock = systemClock }: PrometheusOptions,
  ) {
    this.#registry = registry;
    this.#metrics = metrics;
    this.#name = name;
    this.#clock = clock;
    this.contentType = registry.contentType;
    // A counter that starts at 0 can be used in an alert on its increase.
    for (const reason of losses) this.#counter("tenure_losses_total").inc({ name, reason }, 0);
    for (const reason of handovers) this.#counter("tenure_handovers_total").inc({ name, reason }, 0);
    const single = [
      "leader_election_slowpath_total",
      "tenure_terms_total",
      "tenure_child_restarts_total",
    ] as const;
    for (const metric of single) this.#counter(metric).inc({ name }, 0);
    this.leading(false);
  }

  static async create(options: PrometheusOptions): Promise<PrometheusMetrics> {
    const prom = await import("prom-client");
    const registry = new prom.Registry();
    const metrics = new Map<string, Metric>();
    for (const { name, type, help, labels } of metricsCatalogue) {
      const configuration = { name, help, labelNames: ["name", ...labels], registers: [registry] };
      const buckets = name === "tenure_lock_request_duration_seconds" ? requestBuckets : handoverBuckets;
      const metric =
        type === "gauge"
          ? new prom.Gauge(configuration)
          : type === "counter"
            ? new prom.Counter(configuration)
            : new prom.Histogram({ ...configuration, buckets });
      metrics.set(name, metric);
    }
    return new PrometheusMetrics(registry, metrics, options);
  }

  /** Derives further metrics from the events of an election. The returned function stops that. */
  observe(source: StatusSource): () => void {
    this.#source = source;
    const { election } = source;
    const nowMs = () => this.#clock.now().monoMs;
    let endingAtMs: number | undefined;
    let leaderlessAtMs: number | undefined;
    if (source.supervisor)
      this.#supervisor = new SupervisorCounts(source.supervisor, (metric, labels = {}) =>
        this.#counter(metric).inc({ name: this.#name, ...labels }),
      );
    const cleanups = [
      () => this.#supervisor?.close(),
      election.on("term-started", ({ term }) => {
        endingAtMs = undefined;
        onAbort(term.signal, () => {
          endingAtMs = nowMs();
        });
      }),
      election.on("term-ended", ({ released }) => {
        if (released && endingAtMs !== undefined)
          this.#observe("tenure_handover_duration_seconds", nowMs() - endingAtMs);
      }),
      election.on("leader-changed", ({ leader }) => {
        if (leader === undefined) leaderlessAtMs = nowMs();
        else if (leaderlessAtMs !== undefined) {
          this.#observe("tenure_leaderless_seconds", nowMs() - leaderlessAtMs);
          leaderlessAtMs = undefined;
        }
      }),
    ];
    return () => {
      for (const cleanup of cleanups) cleanup();
    };
  }

  async render(): Promise<string> {
    this.#readSource();
    return this.#registry.metrics();
  }

  leading(isLeading: boolean): void {
    this.#isLeading = isLeading;
    this.#gauge("leader_election_master_status").set({ name: this.#name }, isLeading ? 1 : 0);
  }

  termStarted(): void {
    this.#counter("tenure_terms_total").inc({ name: this.#name });
  }

  termEnded(reason: EndReason): void {
    const metric = losses.includes(reason) ? "tenure_losses_total" : "tenure_handovers_total";
    this.#counter(metric).inc({ name: this.#name, reason });
  }

  request(operation: RequestKind, tookMs: number): void {
    this.#observe("tenure_lock_request_duration_seconds", tookMs, { operation });
    if (operation === "read" && this.#isLeading)
      this.#counter("leader_election_slowpath_total").inc({ name: this.#name });
  }

  requestFailed(operation: string, kind: Failure["kind"]): void {
    this.#counter("tenure_lock_request_failures_total").inc({ name: this.#name, operation, kind });
  }

  /** A gate could not do this. @param gate the kind of gate: `label` */
  gateFailed(gate: string, action: "open" | "check" | "close"): void {
    this.#counter("tenure_gate_failures_total").inc({ name: this.#name, gate, action });
  }

  /** Sets the metrics that no event reports. */
  #readSource(): void {
    const source = this.#source;
    if (!source) return;
    const { election } = source;
    const name = this.#name;
    const { term } = election;
    this.#gauge("tenure_lease_remaining_seconds").set({ name }, (term?.remainingMs() ?? 0) / 1_000);
    this.#gauge("tenure_healthy").set({ name }, healthOf(source).healthy ? 1 : 0);
    const isLeader = term?.isValid() && !term.signal.aborted;
    const current = source.phase?.() ?? (isLeader ? "leader" : term ? "pre-follower" : "follower");
    this.#gauge("tenure_candidate").set({ name }, current === "terminating" ? 0 : 1);
    for (const phase of phases) this.#gauge("tenure_phase").set({ name, phase }, phase === current ? 1 : 0);
    if (!this.#supervisor) this.#readRestarts(source.child?.().restarts ?? 0);
    for (const [metric, value] of this.#supervisor?.gauges() ?? []) this.#gauge(metric).set({ name }, value);
  }

  /** Without a supervisor, restarts between two reads are seen only if they are the most of a term. */
  #readRestarts(restarts: number): void {
    // The count may start again with every term, but a counter must not decrease.
    const more = restarts >= this.#childRestarts ? restarts - this.#childRestarts : restarts;
    this.#childRestarts = restarts;
    this.#counter("tenure_child_restarts_total").inc({ name: this.#name }, more);
  }

  #observe(metric: MetricName, ms: number, labels: Readonly<Record<string, string>> = {}): void {
    (this.#metrics.get(metric) as Histogram).observe({ name: this.#name, ...labels }, ms / 1_000);
  }

  #counter(metric: MetricName): Counter {
    return this.#metrics.get(metric) as Counter;
  }

  #gauge(metric: MetricName): Gauge {
    return this.#metrics.get(metric) as Gauge;
  }
}
