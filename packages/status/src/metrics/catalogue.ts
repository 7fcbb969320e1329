/** All metrics as data. The exporter and the documentation both use this list. */

interface MetricEntry {
  readonly name: string;
  readonly type: "gauge" | "counter" | "histogram";
  /** In addition to `name`, the name of the election. */
  readonly labels: readonly string[];
  readonly help: string;
}

export const metricsCatalogue = [
  {
    name: "leader_election_master_status",
    type: "gauge",
    labels: [],
    help: "1 while this replica has a term, otherwise 0. Same meaning as in client-go.",
  },
  {
    name: "leader_election_slowpath_total",
    type: "counter",
    labels: [],
    help: "Reads of the lock by a leader that could not renew it with a single write. Same meaning as in client-go.",
  },
  {
    name: "tenure_terms_total",
    type: "counter",
    labels: [],
    help: "Terms that this replica started.",
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
    help: "Time from the request to end a term until its lock was released. Most of it is the time to stop the work.",
  },
  {
    name: "tenure_leaderless_seconds",
    type: "histogram",
    labels: [],
    help: "Time without a leader between two leaders, as seen by this replica.",
  },
  {
    name: "tenure_lock_request_duration_seconds",
    type: "histogram",
    labels: ["operation"],
    help: "Duration of requests to the lock, by operation: read, acquire, renew, release, accept.",
  },
  {
    name: "tenure_lock_request_failures_total",
    type: "counter",
    labels: ["operation", "kind"],
    help: "Failed requests to the lock, by operation and kind of failure.",
  },
  {
    name: "tenure_lease_remaining_seconds",
    type: "gauge",
    labels: [],
    help: "Time until the term of this leader expires without another renewal; 0 for a follower.",
  },
  {
    name: "tenure_healthy",
    type: "gauge",
    labels: [],
    help: "1 while /healthz reports ok, otherwise 0.",
  },
  {
    name: "tenure_phase",
    type: "gauge",
    labels: ["phase"],
    help: "1 for the current phase of this replica, 0 for all other phases.",
  },
  {
    name: "tenure_child_restarts_total",
    type: "counter",
    labels: [],
    help: "Restarts of the child process, as counted by its supervisor.",
  },
] as const satisfies readonly MetricEntry[];

export type MetricName = (typeof metricsCatalogue)[number]["name"];
