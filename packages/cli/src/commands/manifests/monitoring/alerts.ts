/**
 * Alerts on elections, for Prometheus. With labels they concern one election, without them all. Pure.
 * Elections in two namespaces may have the same name, so every alert keeps the namespace.
 */

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: "critical" | "warning" };
  readonly annotations: {
    readonly summary: string;
    readonly runbook_url: string;
  };
}

export interface AlertScope {
  /** `namespace="prod",name="billing"`, or "" for all elections. */
  readonly selector: string;
  /** How many candidates there should be; without it an election with one candidate is not reported. */
  readonly replicas?: number;
  /** The page with one section for each alert. */
  readonly runbooks: string;
}

const election = "{{ $labels.namespace }}/{{ $labels.name }}";

export function electionAlerts({ selector, replicas, runbooks }: AlertScope): Alert[] {
  const of = (metric: string) => (selector === "" ? metric : `${metric}{${selector}}`);
  const by = "by (namespace, name)";
  const alert = (
    name: string,
    severity: "critical" | "warning",
    expr: string,
    waits: string | undefined,
    summary: string,
  ): Alert => ({
    alert: name,
    expr,
    ...(waits !== undefined && { for: waits }),
    labels: { severity },
    annotations: { summary, runbook_url: `${runbooks}#${name.toLowerCase()}` },
  });
  return [
    alert(
      "TenureNoLeader",
      "critical",
      `max ${by} (${of("leader_election_master_status")}) == 0`,
      "1m",
      `Nobody has led ${election} for a minute.`,
    ),
    ...(selector === ""
      ? []
      : [
          alert(
            "TenureNoCandidates",
            "critical",
            `absent(${of("leader_election_master_status")})`,
            "2m",
            `No replica of ${election} can be scraped.`,
          ),
        ]),
    alert(
      "TenureTwoLeaders",
      "critical",
      `sum ${by} (${of("leader_election_master_status")}) > 1`,
      // Replicas are scraped at different moments, so a handover may look like two leaders once.
      "2m",
      `{{ $value }} replicas say that they lead ${election}.`,
    ),
    alert(
      "TenureTermLost",
      "warning",
      `sum by (namespace, name, reason) (increase(${of("tenure_losses_total")}[15m])) > 0`,
      undefined,
      `${election} lost a term: {{ $labels.reason }}.`,
    ),
    alert(
      "TenureFlapping",
      "warning",
      `sum ${by} (increase(${of("tenure_terms_total")}[15m])) > 5`,
      undefined,
      `Leadership of ${election} changed {{ $value | humanize }} times in 15 minutes.`,
    ),
    alert(
      "TenureUnhealthy",
      "warning",
      `${of("tenure_healthy")} == 0`,
      "2m",
      `A replica of ${election} is cut off from its lock, or its work overruns: {{ $labels.pod }}.`,
    ),
    ...(replicas === 1
      ? []
      : [
          alert(
            "TenureNoStandby",
            "warning",
            `sum ${by} (${of("tenure_candidate")}) < 2`,
            "10m",
            `${election} has only one candidate: nobody can take over.`,
          ),
        ]),
    alert(
      "TenureChildCrashes",
      "warning",
      `sum ${by} (increase(${of("tenure_child_restarts_total")}[15m])) > 3`,
      undefined,
      `The program of ${election} was restarted {{ $value | humanize }} times in 15 minutes.`,
    ),
    alert(
      "TenureChecksFail",
      "warning",
      `sum ${by} (increase(${of("tenure_child_check_failures_total")}[15m])) > 10`,
      undefined,
      `{{ $value | humanize }} health checks of ${election} failed in 15 minutes.`,
    ),
    alert(
      "TenureGateFails",
      "warning",
      `sum by (namespace, name, gate, action) (increase(${of("tenure_gate_failures_total")}[15m])) > 0`,
      undefined,
      `Traffic of ${election} could not be moved: {{ $labels.action }} of {{ $labels.gate }} failed.`,
    ),
    alert(
      "TenureNoWatchdog",
      "warning",
      `${of("tenure_watchdog_running")} == 0`,
      "2m",
      `Nothing would stop the program of ${election} if its replica froze: {{ $labels.pod }}.`,
    ),
    alert(
      "TenureDegraded",
      "warning",
      `${of("tenure_degraded")} == 1`,
      "2m",
      `${election} is led by a replica whose program fails, because no replica is healthier: {{ $labels.pod }}.`,
    ),
  ];
}

/**
 * Alerts on Leases of any software, from kube-state-metrics alone. It knows neither the lease duration nor the transitions, so
 * these are coarse.
 */
export function leaseAlerts(runbooks: string): Alert[] {
  // Nodes renew a Lease as a heartbeat, and API servers one as their identity.
  const elections = 'namespace!="kube-node-lease",lease!~"apiserver-.*"';
  const lease = "{{ $labels.namespace }}/{{ $labels.lease }}";
  const alert = (name: string, expr: string, waits: string | undefined, summary: string): Alert => ({
    alert: name,
    expr,
    ...(waits !== undefined && { for: waits }),
    labels: { severity: "warning" },
    annotations: { summary, runbook_url: `${runbooks}#${name.toLowerCase()}` },
  });
  return [
    alert(
      "LeaseNotRenewed",
      `time() - max by (namespace, lease) (kube_lease_renew_time{${elections}}) > 120`,
      "2m",
      `Lease ${lease} was last renewed {{ $value | humanizeDuration }} ago: its holder is gone, and nobody took over.`,
    ),
    alert(
      "LeaseChangesHands",
      // One series for each holder. changes(kube_lease_renew_time[15m]) would count renewals.
      `count by (namespace, lease) (count_over_time(kube_lease_owner{${elections},lease_holder!=""}[15m])) > 4`,
      undefined,
      `Lease ${lease} had {{ $value }} holders in 15 minutes.`,
    ),
  ];
}
