/** Every metric there is, as data: what is exported and what the docs say are one and the same. */

export interface MetricEntry {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  /** Beside `name`, the election's. */
  readonly labels: readonly string[];
  readonly help: string;
}

export const metricsCatalogue = [
  {
    name: "leader_election_master_status",
    type: "gauge",
    labels: [],
    help: "1 while this replica serves a term, else 0; as client-go has it.",
  },
  {
    name: "leader_election_slowpath_total",
    type: "counter",
    labels: [],
    help: "Reads of the lock by a leader that could not renew it with one write; as client-go has it.",
  },
  {
    name: "tenure_terms_total",
    type: "counter",
    labels: [],
    help: "Terms that this replica began.",
  },
  {
    name: "tenure_handovers_total",
    type: "counter",
    labels: ["reason"],
    help: "Terms that this replica ended on purpose, by reason.",
  },
  {
    name: "tenure_losses_total",
    type: "counter",
    labels: ["reason"],
    help: "Terms that this replica lost, by reason.",
  },
  {
    name: "tenure_handover_duration_seconds",
    type: "histogram",
    labels: [],
    help: "From the moment that a term was to end on purpose until its lock was released: stopping the work, mostly.",
  },
  {
    name: "tenure_leaderless_seconds",
    type: "histogram",
    labels: [],
    help: "How long nobody led between two leaders, as this replica saw it.",
  },
  {
    name: "tenure_lock_request_duration_seconds",
    type: "histogram",
    labels: ["operation"],
    help: "How long the lock took to answer: read, acquire, renew, release.",
  },
  {
    name: "tenure_lock_request_failures_total",
    type: "counter",
    labels: ["operation", "kind"],
    help: "Requests to the lock that failed, by kind of failure.",
  },
  {
    name: "tenure_lease_remaining_seconds",
    type: "gauge",
    labels: [],
    help: "How long this leader may go on without another renewal; 0 for a follower.",
  },
  {
    name: "tenure_healthy",
    type: "gauge",
    labels: [],
    help: "1 while /healthz says ok, else 0.",
  },
  {
    name: "tenure_phase",
    type: "gauge",
    labels: ["phase"],
    help: "1 for the phase that this replica is in, 0 for the others.",
  },
  {
    name: "tenure_child_restarts_total",
    type: "counter",
    labels: [],
    help: "Restarts of the child that its supervisor counts.",
  },
] as const satisfies readonly MetricEntry[];

export type MetricName = (typeof metricsCatalogue)[number]["name"];
