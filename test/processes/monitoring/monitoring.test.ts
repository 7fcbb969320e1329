/** The alerts and the dashboard: promtool runs the rules on series, and every expression uses metrics that exist. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { metricsCatalogue } from "@tenure/status/internal";
import { dump, load } from "js-yaml";
import { describe, expect, it } from "vitest";
import {
  electionAlerts,
  leaseAlerts,
} from "../../../packages/cli/src/commands/manifests/monitoring/alerts.ts";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import { files } from "../../../scripts/monitoring.mjs";

const folder = fileURLToPath(new URL("../../../deploy/monitoring/", import.meta.url));
const written = files({ electionAlerts, leaseAlerts });
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  console.warn("promtool is not installed (apt-get install prometheus): the alerts are not run");

it.each(Object.entries(written))(
  "%s is up to date (else: npm run build && node scripts/monitoring.mjs)",
  (name, text) => {
    const present = readFileSync(`${folder}${name}`, "utf8");
    // The layout of JSON belongs to the formatter.
    if (name.endsWith(".json")) expect(JSON.parse(present)).toEqual(JSON.parse(text));
    else expect(present).toBe(text);
  },
);

const rules = [...electionAlerts({ selector: "", runbooks: "x" }), ...leaseAlerts("x")];
interface Panel {
  readonly targets: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(written["dashboard.json"]) as { panels: Panel[] };
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

it("every expression uses metrics that exist, and keeps namespaces apart", () => {
  const known = new Set<string>([
    ...metricsCatalogue.map(({ name }) => name),
    "kube_lease_renew_time",
    "kube_lease_owner",
  ]);
  for (const expr of expressions) {
    for (const [metric] of expr.matchAll(/\b(tenure|leader_election|kube)_[a-z_]+/g))
      expect(known, expr).toContain(metric.replace(/_(bucket|sum|count)$/, ""));
  }
  for (const { expr } of rules) expect(expr).toMatch(/by \(namespace, |\{? ?(== 0|== 1)$/);
});

it("every alert has a section in the documentation that says what to do", () => {
  const page = readFileSync(fileURLToPath(new URL("../../../docs/tasks/alerts.md", import.meta.url)), "utf8");
  const all = [...electionAlerts({ selector: 'name="x"', runbooks: "x" }), ...leaseAlerts("x")];
  const sections = [...page.matchAll(/^## (\w+)$/gm)].map(([, title]) => title);
  expect(sections.sort()).toEqual(all.map(({ alert }) => alert).sort());
  for (const { alert, annotations } of all) expect(annotations.runbook_url).toBe(`x#${alert.toLowerCase()}`);
});

describe.skipIf(!hasPromtool)("promtool", () => {
  const promtool = (...args: string[]) => execFileSync("promtool", args, { cwd: folder, encoding: "utf8" });

  it.each(["elections", "leases"])("the alerts on %s fire when they should, and only then", (name) => {
    expect(promtool("test", "rules", `${name}.test.yaml`)).toContain("SUCCESS");
  });

  it("accepts every expression of the dashboard, and the rules of tenure manifests --monitoring", () => {
    const here = mkdtempSync(join(tmpdir(), "tenure-promtool-"));
    try {
      const shown = dashboard.panels.flatMap(({ targets }) => targets);
      const records = shown.map(({ expr }, index) => ({
        record: `panel:${index}`,
        expr: expr
          .replaceAll("$__rate_interval", "5m")
          .replaceAll("$namespace", ".*")
          .replaceAll("$name", ".*"),
      }));
      writeFileSync(join(here, "panels.yaml"), dump({ groups: [{ name: "panels", rules: records }] }));
      expect(promtool("check", "rules", join(here, "panels.yaml"))).toContain(
        `SUCCESS: ${records.length} rules found`,
      );
      const objects = objectsFor({
        name: "billing",
        namespace: "prod",
        image: "i",
        command: ["x"],
        monitoring: true,
      });
      const rule = objects.find(({ kind }) => kind === "PrometheusRule") as unknown as {
        spec: { groups: { rules: unknown[] }[] };
      };
      writeFileSync(join(here, "rule.yaml"), dump(rule.spec));
      expect(promtool("check", "rules", join(here, "rule.yaml"))).toContain("SUCCESS");
      expect(load(readFileSync(join(here, "rule.yaml"), "utf8"))).toEqual(rule.spec);
    } finally {
      rmSync(here, { recursive: true, force: true });
    }
  });
});

it("the manifests say what to scrape; without --monitoring there is nothing of it", () => {
  const options = { name: "billing", namespace: "prod", image: "i", command: ["x"] };
  const kinds = (monitoring: boolean) => objectsFor({ ...options, monitoring }).map(({ kind }) => kind);
  expect(kinds(false)).not.toContain("PodMonitor");
  const [monitor] = objectsFor({ ...options, monitoring: true }).filter(({ kind }) => kind === "PodMonitor");
  expect(monitor).toMatchObject({
    metadata: { name: "billing", namespace: "prod" },
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/name": "billing" } },
      podMetricsEndpoints: [{ port: "status", path: "/metrics" }],
    },
  });
});
