/** What kubectl says about a rollout that has ended, in each traffic mode, as the manifests and the docs say. */
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import { manifestsAsYaml } from "../../../packages/cli/src/commands/manifests/print.ts";
import { connectForLocks, type LockTarget } from "../../conformance/locks-target.ts";
import { collectionOf } from "./resources.ts";

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (!hasKubectl) console.warn("kubectl is not on PATH: rollout status is not tested");

const name = "billing";
const replicas = 3;
type Mode = "ready-file" | "configmap" | "label" | "endpointslice";

describe.skipIf(!hasKubectl)("a rollout with three new pods", () => {
  let to: LockTarget;
  beforeAll(async () => {
    to = await connectForLocks();
  });
  afterAll(() => to.close());

  const kubectl = (...args: string[]) =>
    promisify(execFile)("kubectl", args, { env: { ...process.env, KUBECONFIG: to.kubeconfig } });

  /** Applies the Deployment of this mode, and the status that the controller writes when all pods are new. */
  async function rollOut(traffic: Mode, readyReplicas: number) {
    const namespace = await to.target.namespace();
    const options = { name, namespace, image: "x:1", command: ["x"], traffic, port: 80, replicas };
    const deployment = objectsFor(options).find(({ kind }) => kind === "Deployment");
    const { body } = await to.target.request("POST", collectionOf(deployment), deployment);
    // There is no controller, so this is what it would write.
    const status = {
      observedGeneration: body.metadata.generation,
      replicas,
      updatedReplicas: replicas,
      readyReplicas,
      availableReplicas: readyReplicas,
      unavailableReplicas: replicas - readyReplicas,
    };
    const path = `${collectionOf(deployment)}/${name}/status`;
    expect((await to.target.request("PUT", path, { ...body, status })).status).toBe(200);
    const rolloutStatus = (timeout: string) =>
      kubectl("rollout", "status", `deployment/${name}`, "-n", namespace, `--timeout=${timeout}`);
    return { namespace, options, rolloutStatus };
  }

  test.each(["ready-file", "configmap"] as const)(
    "%s: only the leader is Ready, and kubectl rollout status does not end",
    async (traffic) => {
      const { rolloutStatus } = await rollOut(traffic, 1);
      await expect(rolloutStatus("3s")).rejects.toMatchObject({
        stdout: expect.stringContaining("1 of 3 updated replicas are available"),
      });
    },
  );

  test.each(["ready-file", "configmap"] as const)(
    "%s: the command that the manifests advise ends",
    async (traffic) => {
      const { namespace, options } = await rollOut(traffic, 1);
      const [, path] = /--for=jsonpath='([^']+)'=1/.exec(manifestsAsYaml(options)) ?? [];
      const { stdout } = await kubectl(
        ...["wait", `deployment/${name}`, "-n", namespace, `--for=jsonpath=${path}=1`, "--timeout=20s"],
      );
      expect(stdout).toContain("condition met");
    },
  );

  test.each(["label", "endpointslice"] as const)(
    "%s: standbys are Ready, and kubectl rollout status ends",
    async (traffic) => {
      const { rolloutStatus } = await rollOut(traffic, replicas);
      expect((await rolloutStatus("20s")).stdout).toContain("successfully rolled out");
    },
  );
});
