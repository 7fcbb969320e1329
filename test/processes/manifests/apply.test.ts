/** An API server accepts every manifest with strict validation: that of TENURE_CONFORMANCE_KUBECONFIG, or a sandbox. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import {
  type ManifestOptions,
  modes,
  trafficModes,
} from "../../../packages/cli/src/commands/manifests/options.ts";
import { manifestsAsYaml } from "../../../packages/cli/src/commands/manifests/print.ts";
import { connectForLocks, type LockTarget } from "../../conformance/locks-target.ts";
import { collectionOf } from "./resources.ts";

const combinations = modes.flatMap((mode) => trafficModes.map((traffic) => ({ mode, traffic })));
const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (!hasKubectl) console.warn("kubectl is not on PATH: applying with it is skipped");

let to: LockTarget;
let namespace: string;

beforeAll(async () => {
  to = await connectForLocks();
  namespace = await to.target.namespace();
});
afterAll(() => to.close());

const optionsFor = (options: Pick<ManifestOptions, "mode" | "traffic">): ManifestOptions => ({
  name: "billing",
  namespace,
  image: "registry.example/billing:1",
  command: ["node", "worker.js"],
  port: 3000,
  ...options,
});

describe("the API server accepts every object and knows every field", () => {
  test.each(combinations)("$mode, $traffic", async (options) => {
    const objects = objectsFor(optionsFor(options));
    for (const object of objects) {
      const path = `${collectionOf(object)}?dryRun=All&fieldValidation=Strict`;
      const { status, body, headers } = await to.target.request("POST", path, object);
      expect({ kind: object.kind, status, message: body.message }).toEqual({
        kind: object.kind,
        status: 201,
        message: undefined,
      });
      expect(headers.warning).toBeUndefined();
    }
  });

  test("rejects an unknown field", async () => {
    const [account] = objectsFor(optionsFor({ mode: "run", traffic: "none" }));
    const path = `${collectionOf(account)}?dryRun=All&fieldValidation=Strict`;
    const { status, body } = await to.target.request("POST", path, { ...account, automountToken: true });
    expect(status).toBe(400);
    expect(body.message).toContain("automountToken");
  });
});

describe.skipIf(!hasKubectl)("kubectl apply --dry-run=server takes what is printed", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenure-manifests-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each(combinations)("$mode, $traffic", async (options) => {
    const given = optionsFor(options);
    const text = manifestsAsYaml(given);
    const documents = text.split("\n---\n");
    const file = join(folder, "manifests.yaml");
    await writeFile(file, documents.join("\n---\n"));
    const env = { ...process.env, KUBECONFIG: to.kubeconfig, HOME: folder };
    // The sandbox runs in this process, so waiting for kubectl must not block.
    const { stdout, stderr } = await promisify(execFile)(
      "kubectl",
      ["apply", "--dry-run=server", "-f", file],
      {
        env,
      },
    );
    expect(stderr).toBe("");
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(documents.length);
    for (const line of lines) expect(line).toContain("created (server dry run)");
  });
});
