/**
 * deploy/kustomize matches the output of `tenure manifests`: the base exactly, the overlays after kustomize builds them.
 * `REWRITE=1 npx vitest run test/processes/manifests/kustomize` rewrites the base.
 */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadAll } from "js-yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import { type ManifestOptions, trafficModes } from "../../../packages/cli/src/commands/manifests/options.ts";
import { manifestsAsYaml } from "../../../packages/cli/src/commands/manifests/print.ts";
import { connectForLocks, type LockTarget } from "../../conformance/locks-target.ts";
import type { Body } from "../../conformance/target.ts";
import { byName, collectionOf } from "./resources.ts";

const folder = fileURLToPath(new URL("../../../deploy/kustomize", import.meta.url));
const worker: ManifestOptions = {
  name: "worker",
  namespace: "default",
  image: "registry.example/worker:1",
  command: ["node", "worker.js"],
};
const hasKubectl = spawnSync("kubectl", ["kustomize", "--help"]).status === 0;
if (!hasKubectl) console.warn("kubectl is not on PATH: kustomize overlays are not built");

describe("the base matches tenure manifests", () => {
  const documents = manifestsAsYaml(worker)
    .replace(/^(#.*\n)+/, "")
    .split("---\n");
  test.each(objectsFor(worker).map(({ kind }, index) => ({ kind, index })))("$kind", ({ kind, index }) => {
    const file = `${folder}/base/${kind.toLowerCase()}.yaml`;
    if (process.env.REWRITE) writeFileSync(file, documents[index] as string);
    expect(readFileSync(file, "utf8")).toBe(documents[index]);
  });
});

describe("the components match tenure manifests", () => {
  const options: ManifestOptions = {
    ...worker,
    traffic: "label",
    port: 3000,
    admissionPolicy: true,
    networkPolicy: true,
  };
  const documents = manifestsAsYaml(options).split("---\n");
  const policyKinds = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];
  const components = [
    { kind: "NetworkPolicy", component: "network-policy", name: "worker" },
    ...policyKinds.flatMap((kind) => [
      { kind, component: "admission-policy", name: "tenure.default.worker" },
      { kind, component: "lease-policy", name: "tenure.default.worker.leases" },
    ]),
  ];
  test.each(components)("$component: $kind", ({ kind, component, name }) => {
    const index = objectsFor(options).findIndex(
      (object) => object.kind === kind && object.metadata.name === name,
    );
    const file = `${folder}/components/${component}/${kind.toLowerCase()}.yaml`;
    if (process.env.REWRITE) writeFileSync(file, documents[index] as string);
    expect(readFileSync(file, "utf8")).toBe(documents[index]);
  });
});

async function build(path: string): Promise<Body[]> {
  return buildFolder(`${folder}/${path}`);
}

async function buildFolder(path: string): Promise<Body[]> {
  const { stdout, stderr } = await promisify(execFile)("kubectl", ["kustomize", path]);
  expect(stderr).toBe("");
  return loadAll(stdout) as Body[];
}

describe.skipIf(!hasKubectl)("kustomize builds what tenure manifests prints", () => {
  let to: LockTarget;
  beforeAll(async () => {
    to = await connectForLocks();
  });
  afterAll(() => to.close());

  test.each(trafficModes)("%s", async (traffic) => {
    const built = await build(traffic === "none" ? "base" : `overlays/${traffic}`);
    const printed = objectsFor({ ...worker, traffic, ...(traffic !== "none" && { port: 3000 }) });
    expect(byName(built)).toEqual(byName(printed));
    for (const object of built) {
      const { status, body } = await to.target.request(
        "POST",
        `${collectionOf(object)}?dryRun=All&fieldValidation=Strict`,
        object,
      );
      expect({ kind: object.kind, status, body }).toMatchObject({ status: 201 });
    }
  });

  test("label with all components", async () => {
    const own = await mkdtemp(join(tmpdir(), "tenure-kustomize-"));
    const at = (path: string) => relative(own, join(folder, path));
    const kustomization = {
      resources: [at("overlays/label")],
      components: ["admission-policy", "lease-policy", "network-policy"].map((name) =>
        at(`components/${name}`),
      ),
    };
    await writeFile(join(own, "kustomization.yaml"), JSON.stringify(kustomization));
    const options = { traffic: "label", port: 3000, admissionPolicy: true, networkPolicy: true } as const;
    expect(byName(await buildFolder(own))).toEqual(byName(objectsFor({ ...worker, ...options })));
    await rm(own, { recursive: true });
  });

  test("a custom namespace and image reach every object", async () => {
    const objects = await build("example");
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["prod"]));
    const binding = objects.find(({ kind }) => kind === "RoleBinding");
    expect(binding.subjects).toEqual([{ kind: "ServiceAccount", name: "worker", namespace: "prod" }]);
    const deployment = objects.find(({ kind }) => kind === "Deployment");
    expect(deployment.spec.template.spec.containers[0].image).toBe("registry.example/billing:2");
  });
});
