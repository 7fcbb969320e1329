/** What kubectl says about a rollout that has ended, where only the leader is Ready, as the manifests and the docs warn. */
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

describe.skipIf(!hasKubectl)("a rollout with three new pods, of which only the leader is Ready", () => {
  let to: LockTarget;
  let namespace: string;

  beforeAll(async () => {
    to = await connectForLocks();
    namespace = await to.target.namespace();
    const deployment = objectsFor(options()).find(({ kind }) => kind === "Deployment");
    const { body } = await to.target.request("POST", collectionOf(deployment), deployment);
    // There is no controller, so this is what it would write.
    const status = {
      observedGeneration: body.metadata.generation,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 1,
      availableReplicas: 1,
      unavailableReplicas: 2,
    };
    const path = `${collectionOf(deployment)}/${name}/status`;
    expect((await to.target.request("PUT", path, { ...body, status })).status).toBe(200);
  });
  afterAll(() => to.close());

  const options = () => ({
    name,
    namespace,
    image: "x:1",
    command: ["x"],
    traffic: "ready-file" as const,
    port: 80,
  });
  const kubectl = (...args: string[]) =>
    promisify(execFile)("kubectl", args, { env: { ...process.env, KUBECONFIG: to.kubeconfig } });

  test("kubectl rollout status does not end", async () => {
    const waiting = kubectl("rollout", "status", `deployment/${name}`, "-n", namespace, "--timeout=3s");
    await expect(waiting).rejects.toMatchObject({
      stdout: expect.stringContaining("1 of 3 updated replicas are available"),
    });
  });

  test("the command that the manifests advise ends", async () => {
    const [, path] = /--for=jsonpath='([^']+)'=1/.exec(manifestsAsYaml(options())) ?? [];
    const { stdout } = await kubectl(
      ...["wait", `deployment/${name}`, "-n", namespace, `--for=jsonpath=${path}=1`, "--timeout=5s"],
    );
    expect(stdout).toContain("condition met");
  });
});
