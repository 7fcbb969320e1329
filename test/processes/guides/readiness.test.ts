import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openGuide, whyNot } from "./guide.ts";

let guide: Guide;
beforeEach(async () => {
  guide = await openGuide("examples/guide-readiness/README.md");
});
afterEach(() => guide?.close());

const isReady = (pod: string) => existsSync(join(guide.work, pod, "ready"));

describe.skipIf(whyNot !== undefined)("examples/guide-readiness", () => {
  test("can be followed to the end", { timeout: 120_000 }, async () => {
    expect(await guide.run("kubectl apply")).toContain("deployment.apps/leader-demo");
    const pod1 = guide.start("# pod 1");
    await pod1.says("I am the leader!");
    const others = [guide.start("# pod 2"), guide.start("# pod 3")];
    await Promise.all(others.map((pod) => pod.says("new leader elected: pod-1")));
    const cluster = guide.start("# kubelet and endpoints controller");
    await cluster.says("ready: pod-1");

    // The files themselves: a kubelet looks at one after the other, and may see a handover in between.
    let mostReady = 0;
    const looking = setInterval(() => {
      mostReady = Math.max(mostReady, ["pod-1", "pod-2", "pod-3"].filter(isReady).length);
    }, 1);

    await guide.run("cat pod-1/ready");
    await guide.shell(guide.block("# fails, with exit code 1"), 1);
    expect(await guide.run("kubectl get endpoints leader-demo\n")).toMatch(/leader-demo +10\.0\.0\.1:8080 /);

    pod1.interrupt();
    expect(await pod1.exitCode).toBe(0);
    expect(isReady("pod-1")).toBe(false);
    const at = await cluster.says(/ready: pod-[23]$/);
    const [, leader] = /ready: pod-([23])$/.exec(cluster.lines[at] ?? "") ?? [];
    expect(await guide.run("kubectl get endpoints leader-demo --no-headers")).toContain(
      ` 10.0.0.${leader}:8080 `,
    );
    expect(["pod-1", "pod-2", "pod-3"].filter(isReady)).toEqual([`pod-${leader}`]);
    clearInterval(looking);
    expect(mostReady).toBe(1);

    for (const pod of others) pod.interrupt();
    expect(await Promise.all(others.map(({ exitCode }) => exitCode))).toEqual([0, 0]);
    cluster.interrupt();
    expect(await cluster.exitCode).toBe(0);
    expect(guide.left).toEqual([]);
  });
});
