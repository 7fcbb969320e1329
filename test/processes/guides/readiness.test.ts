import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openGuide, whyNoPods } from "./guide.ts";

describe.skipIf(whyNoPods !== undefined)("examples/guide-readiness", () => {
  let guide: Guide;
  beforeEach(async () => {
    guide = await openGuide("examples/guide-readiness/README.md");
  });
  afterEach(() => guide?.close());

  const leader = () =>
    guide.shell("kubectl get lease example-leader-election -o jsonpath={.spec.holderIdentity}");
  const pods = async () =>
    (await guide.shell("kubectl get pods -l app=leader-demo -o name")).trim().split("\n");
  /** The only pod with the ready file. */
  const withFile = async () => {
    const [pod, ...others] =
      (await guide.run("# who has the file")).match(/^pod\S+(?= has the file)/gm) ?? [];
    expect(others).toEqual([]);
    return pod?.replace("pod/", "");
  };
  const addressOf = (pod: string) => guide.shell(`kubectl get pod ${pod} -o jsonpath={.status.podIP}`);

  test("can be followed to the end", { timeout: 180_000 }, async () => {
    expect(await guide.run("kubectl apply")).toContain("deployment.apps/leader-demo");
    expect(await guide.run("kubectl wait")).toMatch(/ 1\/1 +Running/);
    const first = await leader();
    expect(await withFile()).toBe(first);
    expect(await guide.run("kubectl get endpoints leader-demo\n")).toMatch(
      new RegExp(`leader-demo +${await addressOf(first)}:8080 `),
    );

    await guide.run("kubectl delete pod");
    await expect.poll(leader).toSatisfy((pod: string) => pod !== "" && pod !== first);
    const second = await leader();
    // A new pod may lead before its node has reported its address.
    await expect.poll(() => addressOf(second)).not.toBe("");
    const address = await addressOf(second);
    await expect
      .poll(() => guide.run("kubectl get endpoints leader-demo --no-headers"))
      .toMatch(new RegExp(` ${address}:8080 `));
    expect(await withFile()).toBe(second);

    const before = await pods();
    await guide.run("kubectl rollout restart");
    await expect
      .poll(async () => (await pods()).filter((pod) => before.includes(pod)), { timeout: 60_000 })
      .toEqual([]);
    await expect.poll(async () => `pod/${await leader()}`).toSatisfy((pod: string) => !before.includes(pod));
    expect(guide.left).toEqual([]);
  });
});
