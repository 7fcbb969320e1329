import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Body } from "../../conformance/target.ts";
import { type Guide, openGuide, whyNot } from "./guide.ts";

let guide: Guide;
beforeEach(async () => {
  guide = await openGuide("examples/guide-configmap/README.md");
});
afterEach(() => guide?.close());

const folder = fileURLToPath(new URL("../../../examples/guide-configmap", import.meta.url));

test("the script in the ConfigMap is the script", () => {
  const { data } = load(readFileSync(`${folder}/k8s/check-leader-script.yaml`, "utf8")) as Body;
  expect(data["check-leader.sh"]).toBe(readFileSync(`${folder}/check-leader.sh`, "utf8"));
});

describe.skipIf(whyNot !== undefined)("examples/guide-configmap", () => {
  test("can be followed to the end", { timeout: 120_000 }, async () => {
    expect(await guide.run("kubectl apply")).toContain("deployment.apps/single-active-nginx");
    const mount = guide.start("# the mount");
    const cluster = guide.start("# the kubelet");
    await cluster.says("ready: no pod");

    // A person names a pod.
    const name = (pod: string) =>
      guide.run(`kubectl patch configmap leader-config --type=merge --patch='{"data":{"leader":"${pod}"}}'`);
    await name("pod-1");
    await cluster.says(/ready: pod-1$/);
    expect(await guide.run("# one address")).toMatch(/single-active +10\.0\.0\.1:8080 /);
    let at = cluster.lines.length;
    await name("pod-2");
    await cluster.says(/ready: pod-2$/, at);
    expect(await guide.run("# another address")).toMatch(/single-active +10\.0\.0\.2:8080 /);
    const follower = guide.start("# follows within milliseconds");
    await follower.says("pod-2 is named");
    await name("pod-3");
    await follower.says("which is this pod");
    await guide.run("# the probe");
    follower.interrupt();
    expect(await follower.exitCode).toBe(0);
    await expect(guide.run("# the probe")).rejects.toThrow("No such file");

    // The pods elect one.
    const pod1 = guide.start("# pod 1 takes part");
    await pod1.says("I am the leader!");
    const pod2 = guide.start("# pod 2 takes part");
    await pod2.says("new leader elected: pod-1");
    await cluster.says(/ready: pod-1$/, at);
    expect(await guide.run("# who leads")).toBe("pod-1");
    at = cluster.lines.length;
    pod1.interrupt();
    expect(await pod1.exitCode).toBe(0);
    await pod2.says("I am the leader!");
    await cluster.says(/ready: pod-2$/, at);
    expect(await guide.run("# the address of pod 2")).toMatch(/single-active +10\.0\.0\.2:8080 /);

    pod2.interrupt();
    expect(await pod2.exitCode).toBe(0);
    cluster.interrupt();
    expect(await cluster.exitCode).toBe(0);
    mount.kill("SIGKILL");
    expect(guide.left).toEqual([]);
  });
});
