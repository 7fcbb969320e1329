/**
 * The Helm chart renders the same objects as `tenure manifests` for every combination, and rejects the same options. Helm is
 * $TENURE_HELM, or the one in PATH, or it is built with `go`. Without any of them these tests are skipped with a warning.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import {
  type ManifestOptions,
  modes,
  trafficModes,
} from "../../../packages/cli/src/commands/manifests/options.ts";
import { connectForLocks, type LockTarget } from "../../conformance/locks-target.ts";
import type { Body } from "../../conformance/target.ts";
import { findHelm } from "../../kube/tools.mjs";
import { byName, collectionOf } from "./resources.ts";

const chart = fileURLToPath(new URL("../../../deploy/helm/tenure", import.meta.url));
const found = await findHelm();
const helm = found ?? "helm";
if (!found)
  console.warn(
    "helm is not on PATH, nor named by TENURE_HELM, and go cannot build it: the chart is not rendered",
  );

async function template(values: Partial<ManifestOptions>): Promise<Body[]> {
  const { name = "billing", namespace = "prod", ...rest } = values;
  const sets = Object.entries(rest).map(([key, value]) => `--set-json=${key}=${JSON.stringify(value)}`);
  const args = ["template", name, chart, "--namespace", namespace, "--kube-version", "1.33.0", ...sets];
  const { stdout } = await promisify(execFile)(helm, args);
  return (loadAll(stdout) as Body[]).filter(Boolean);
}

const refusal = (values: Partial<ManifestOptions>): Promise<string> =>
  template({ ...base, ...values }).then(
    () => "accepted",
    (error) => error.stderr as string,
  );

const base = { image: "registry.example/billing:1", command: ["node", "worker.js"] };

describe.skipIf(!found)("the Helm chart", () => {
  let to: LockTarget;
  let namespace: string;
  beforeAll(async () => {
    to = await connectForLocks();
    namespace = await to.target.namespace();
  });
  afterAll(() => to.close());

  const combinations = modes.flatMap((mode) => trafficModes.map((traffic) => ({ mode, traffic })));

  test.each(combinations)(
    "renders the same objects as tenure manifests: $mode, $traffic",
    async (options) => {
      const values = { ...base, ...options, port: 3000, namespace };
      const rendered = await template(values);
      expect(byName(rendered)).toEqual(byName(objectsFor({ name: "billing", ...values })));
      for (const object of rendered) {
        const path = `${collectionOf(object)}?dryRun=All&fieldValidation=Strict`;
        const { status, body } = await to.target.request("POST", path, object);
        expect({ kind: object.kind, status, body }).toMatchObject({ status: 201 });
      }
    },
  );

  test.each([
    { replicas: 5, stopTimeout: 60, statusPort: 9000 },
    { gracePeriod: 90 },
    { strategy: "recreate" as const },
    { maxUnavailable: 1, maxSurge: "50%" },
    { mode: "library" as const, command: [] },
    { mode: "sidecar" as const, command: [], tenureImage: "registry.example/tenure:2" },
    { traffic: "ready-file" as const, port: 80, maxUnavailable: "100%" },
    { traffic: "label" as const, port: 80, admissionPolicy: true },
    { admissionPolicy: true },
    { register: false },
    { traffic: "label" as const, port: 80, admissionPolicy: true, register: false },
    { mode: "sidecar" as const, command: [], register: false },
    { networkPolicy: true },
    { networkPolicy: true, scrapeNamespace: "monitoring", port: 80, statusPort: 9000 },
  ])("accepts the same options: %o", async (options) => {
    const values = { ...base, ...options };
    const rendered = await template(values);
    expect(byName(rendered)).toEqual(byName(objectsFor({ name: "billing", namespace: "prod", ...values })));
  });

  test.each([
    [{ command: [] }, "mode run needs command"],
    [{ traffic: "label" }, "traffic label needs port"],
    [{ port: 8081 }, "must differ"],
    [{ admissionPolicy: true, register: false }, "admissionPolicy needs traffic label or register"],
    [{ scrapeNamespace: "x" }, "scrapeNamespace needs networkPolicy"],
    [{ gracePeriod: 27 }, "27 < 25 + 5"],
    [{ image: "" }, "image"],
    [{ traffic: "dns" }, "traffic"],
    [{ replica: 3 }, "replica"],
    [{ traffic: "ready-file", port: 80, maxUnavailable: 2 }, "a rollout would never end"],
    [{ traffic: "configmap", port: 80, maxUnavailable: "67%" }, "set maxUnavailable to 3"],
  ] as [Partial<ManifestOptions>, string][])("rejects %o", async (values, expected) => {
    expect(await refusal(values)).toContain(expected);
  });

  test("passes helm lint", async () => {
    const { stdout } = await promisify(execFile)(helm, [
      "lint",
      "--strict",
      chart,
      '--set-json=image="x:1"',
      '--set-json=command=["x"]',
    ]);
    expect(stdout).toContain("0 chart(s) failed");
  });
});
