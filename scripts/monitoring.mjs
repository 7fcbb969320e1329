// @ts-check
// Writes deploy/monitoring from the alerts of the command and the metrics of the status server. A test fails if a file is out of
// date. To update:
//   npm run build && node scripts/monitoring.mjs
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dump } from "js-yaml";

const runbooks = "docs/tasks/alerts.md";

/** @param {string} name @param {readonly object[]} rules */
const ruleFile = (name, rules) =>
  `# Written by scripts/monitoring.mjs. What each alert means: ${runbooks}\n${dump({ groups: [{ name, rules }] }, { lineWidth: -1 })}`;

/**
 * @param {{
 *   electionAlerts: (scope: { selector: string, runbooks: string }) => readonly object[],
 *   leaseAlerts: (runbooks: string) => readonly object[],
 * }} alerts
 */
export function files({ electionAlerts, leaseAlerts }) {
  return {
    "elections.rules.yaml": ruleFile("tenure", electionAlerts({ selector: "", runbooks })),
    "leases.rules.yaml": ruleFile("leases", leaseAlerts(runbooks)),
    "dashboard.json": `${JSON.stringify(dashboard(), null, 2)}\n`,
  };
}

/** @param {string} metric */
const of = (metric) => `${metric}{namespace=~"$namespace",name=~"$name"}`;

/**
 * @param {string} type @param {string} title @param {[number, number, number, number]} place x, y, width, height
 * @param {[string, string][]} queries expression and legend
 * @param {object} [more]
 */
const panel = (type, title, [x, y, w, h], queries, more = {}) => ({
  type,
  title,
  gridPos: { x, y, w, h },
  datasource,
  targets: queries.map(([expr, legendFormat], index) => ({
    refId: String.fromCharCode(65 + index),
    expr,
    legendFormat,
  })),
  ...more,
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it
const datasource = { type: "prometheus", uid: "${datasource}" };
const seconds = { fieldConfig: { defaults: { unit: "s" }, overrides: [] } };

function dashboard() {
  /** @param {string} name @param {string} query */
  const variable = (name, query) => ({
    name,
    type: "query",
    datasource,
    query,
    refresh: 2,
    includeAll: true,
    multi: true,
  });
  const mappings = [
    {
      type: "value",
      options: { 0: { text: "waits", color: "#c7ccd6" }, 1: { text: "leads", color: "#0b5cad" } },
    },
  ];
  const panels = [
    panel(
      "state-timeline",
      "Who leads",
      [0, 0, 24, 9],
      [[of("leader_election_master_status"), "{{namespace}}/{{name}} {{pod}}"]],
      {
        fieldConfig: { defaults: { mappings, color: { mode: "thresholds" } }, overrides: [] },
        options: { showValue: "never", mergeValues: true, rowHeight: 0.8 },
      },
    ),
    panel(
      "stat",
      "Elections without a leader",
      [0, 9, 6, 4],
      [[`count(max by (namespace, name) (${of("leader_election_master_status")}) == 0) or vector(0)`, ""]],
    ),
    panel(
      "stat",
      "Candidates",
      [6, 9, 6, 4],
      [[`sum by (namespace, name) (${of("tenure_candidate")})`, "{{namespace}}/{{name}}"]],
    ),
    panel(
      "stat",
      "Terms lost in a day",
      [12, 9, 6, 4],
      [[`sum(increase(${of("tenure_losses_total")}[1d])) or vector(0)`, ""]],
    ),
    panel(
      "stat",
      "Unhealthy replicas",
      [18, 9, 6, 4],
      [[`count(${of("tenure_healthy")} == 0) or vector(0)`, ""]],
    ),
    panel(
      "timeseries",
      "Time without a leader",
      [0, 13, 12, 8],
      [
        [
          `histogram_quantile(0.5, sum by (le) (increase(${of("tenure_leaderless_seconds_bucket")}[1h])))`,
          "median",
        ],
        [
          `histogram_quantile(0.95, sum by (le) (increase(${of("tenure_leaderless_seconds_bucket")}[1h])))`,
          "95 %",
        ],
      ],
      seconds,
    ),
    panel(
      "timeseries",
      "Duration of handovers",
      [12, 13, 12, 8],
      [
        [
          `histogram_quantile(0.5, sum by (le) (increase(${of("tenure_handover_duration_seconds_bucket")}[1h])))`,
          "median",
        ],
        [
          `histogram_quantile(0.95, sum by (le) (increase(${of("tenure_handover_duration_seconds_bucket")}[1h])))`,
          "95 %",
        ],
      ],
      seconds,
    ),
    panel(
      "timeseries",
      "Ends of terms",
      [0, 21, 12, 8],
      [
        [
          `sum by (reason) (increase(${of("tenure_handovers_total")}[$__rate_interval]))`,
          "handed over: {{reason}}",
        ],
        [`sum by (reason) (increase(${of("tenure_losses_total")}[$__rate_interval]))`, "lost: {{reason}}"],
      ],
    ),
    panel(
      "timeseries",
      "Time left on the lease",
      [12, 21, 12, 8],
      [[`${of("tenure_lease_remaining_seconds")} > 0`, "{{pod}}"]],
      seconds,
    ),
    panel(
      "timeseries",
      "Requests to the lock, 95 %",
      [0, 29, 12, 8],
      [
        [
          `histogram_quantile(0.95, sum by (le, operation) (rate(${of("tenure_lock_request_duration_seconds_bucket")}[$__rate_interval])))`,
          "{{operation}}",
        ],
      ],
      seconds,
    ),
    panel(
      "timeseries",
      "Failed requests to the lock",
      [12, 29, 12, 8],
      [
        [
          `sum by (operation, kind) (rate(${of("tenure_lock_request_failures_total")}[$__rate_interval]))`,
          "{{operation}}: {{kind}}",
        ],
      ],
    ),
    panel(
      "timeseries",
      "The program of the leader",
      [0, 37, 12, 8],
      [
        [
          `sum by (code, signal) (increase(${of("tenure_child_exits_total")}[$__rate_interval]))`,
          "exit {{code}}{{signal}}",
        ],
        [`sum(increase(${of("tenure_child_restarts_total")}[$__rate_interval]))`, "restarts"],
        [`sum(increase(${of("tenure_child_check_failures_total")}[$__rate_interval]))`, "failed checks"],
      ],
    ),
    panel(
      "timeseries",
      "Gates and watchdog",
      [12, 37, 12, 8],
      [
        [
          `sum by (gate, action) (increase(${of("tenure_gate_failures_total")}[$__rate_interval]))`,
          "{{gate}} could not {{action}}",
        ],
        [
          `sum(increase(${of("tenure_watchdog_replacements_total")}[$__rate_interval]))`,
          "watchdogs replaced",
        ],
        [`max(${of("tenure_watchdog_heartbeat_age_seconds")})`, "oldest answer of a watchdog, s"],
      ],
    ),
  ];
  return {
    title: "Leader election (tenure)",
    uid: "tenure",
    tags: ["tenure"],
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus" },
        variable("namespace", "label_values(leader_election_master_status, namespace)"),
        variable("name", 'label_values(leader_election_master_status{namespace=~"$namespace"}, name)'),
      ],
    },
    panels: panels.map((each, index) => ({ id: index + 1, ...each })),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const alerts = await import("../packages/cli/dist/commands/manifests/monitoring/alerts.js");
  for (const [name, text] of Object.entries(files(alerts)))
    await writeFile(new URL(`../deploy/monitoring/${name}`, import.meta.url), text);
}
