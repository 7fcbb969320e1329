import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Body } from "../../conformance/target.ts";
import { type Guide, openGuide, whyNoPods } from "./guide.ts";

const folder = fileURLToPath(new URL("../../../examples/guide-configmap", import.meta.url));

test("the script in the ConfigMap is the script", () => {
  const { data } = load(readFileSync(`${folder}/k8s/check-leader-script.yaml`, "utf8")) as Body;
  expect(data["check-leader.sh"]).toBe(readFileSync(`${folder}/check-leader.sh`, "utf8"));
});

describe.skipIf(whyNoPods !== undefined)("examples/guide-configmap", () => {
  let guide: Guide;
  beforeEach(async () => {
    guide = await openGuide("examples/guide-configmap/README.md");
  });
  afterEach(() => guide?.close());

  test("can be followed to the end", { timeout: 240_000 }, async () => {
    expect(await guide.run("kubectl apply")).toContain("deployment.apps/single-active-nginx");
    const pod = (index: number, path: string) =>
      guide.shell(`kubectl get pods -l app=single-active -o jsonpath={.items[${index}].${path}}`);
    await expect.poll(() => pod(2, "status.podIP").catch(() => "")).not.toBe("");
    const [first, second] = [await pod(0, "metadata.name"), await pod(1, "metadata.name")];
    const [firstAddress, secondAddress] = [await pod(0, "status.podIP"), await pod(1, "status.podIP")];
    /** The kubelet looks at the file only every few seconds. */
    const patience = { timeout: 60_000, interval: 500 };
    const only = (address: string) => new RegExp(`single-active +${address}:80 `);

    // A person names a pod.
    await guide.run("# name the first pod");
    await expect.poll(() => guide.run("# one address"), patience).toMatch(only(firstAddress));
    await guide.run("# name the second pod");
    await expect.poll(() => guide.run("# another address"), patience).toMatch(only(secondAddress));
    const follower = guide.start("# follows within milliseconds");
    await follower.says(`${second} is named`);
    await guide.run(
      `kubectl patch configmap leader-config --type=merge --patch='{"data":{"leader":"pod-3"}}'`,
    );
    await follower.says("which is this pod");
    await guide.run("# the probe");
    follower.interrupt();
    expect(await follower.exitCode).toBe(0);
    await expect(guide.run("# the probe")).rejects.toThrow("No such file");

    // The pods elect one.
    const one = guide.start("# for the first pod");
    await one.says("I am the leader!");
    const other = guide.start("# for the second pod");
    await other.says(`new leader elected: ${first}`);
    expect(await guide.run("# who leads")).toBe(first);
    await expect.poll(() => guide.run("# one address"), patience).toMatch(only(firstAddress));
    one.interrupt();
    expect(await one.exitCode).toBe(0);
    await other.says("I am the leader!");
    await expect
      .poll(() => guide.run("# the address of the second pod"), patience)
      .toMatch(only(secondAddress));
    other.interrupt();
    expect(await other.exitCode).toBe(0);
    expect(guide.left).toEqual([]);
  });
});
