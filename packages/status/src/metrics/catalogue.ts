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
    name: "tenure_candidate",
    type: "gauge",
    labels: [],
    help: "1 while this replica takes part in the election, 0 while it shuts down. The sum over all replicas is the number of candidates.",
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
    help: "Restarts of the child process, over all terms of this replica.",
  },
  {
    name: "tenure_child_exits_total",
    type: "counter",
    labels: ["code", "signal"],
    help: "Exits of the child process, by exit code or by signal; includes those that were asked for.",
  },
  {
    name: "tenure_child_check_failures_total",
    type: "counter",
    labels: [],
    help: "Failed health checks of the child process.",
  },
  {
    name: "tenure_gate_failures_total",
    type: "counter",
    labels: ["gate", "action"],
    help: "Failures of a traffic gate, by gate and by action: open, check, close.",
  },
  {
    name: "tenure_watchdog_running",
    type: "gauge",
    labels: [],
    help: "1 while the watchdog of the child runs, otherwise 0. Absent if there is no supervisor.",
  },
  {
    name: "tenure_watchdog_replacements_total",
    type: "counter",
    labels: [],
    help: "Times that the watchdog was replaced by a new one.",
  },
  {
    name: "tenure_watchdog_heartbeat_age_seconds",
    type: "gauge",
    labels: [],
    help: "Time since the watchdog last answered. Absent if there is no supervisor.",
  },
  {
    name: "tenure_degraded",
    type: "gauge",
    labels: [],
    help: "1 while this replica leads although its child fails, because no replica is healthier. Absent if there is no supervisor.",
  },
] as const satisfies readonly MetricEntry[];

export type MetricName = (typeof metricsCatalogue)[number]["name"];
