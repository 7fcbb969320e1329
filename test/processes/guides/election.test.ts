import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Guide, openGuide, type Terminal, whyNot } from "./guide.ts";

let guide: Guide;
beforeEach(async () => {
  guide = await openGuide("examples/guide-election/README.md");
});
afterEach(() => guide?.close());

/** Whoever says first that it leads. */
async function leaderOf(terminals: Terminal[], since: number[]): Promise<number> {
  return Promise.race(
    terminals.map(async (terminal, index) => {
      await terminal.says("I am the leader!", since[index]).catch(() => new Promise(() => {}));
      return index;
    }),
  );
}

describe.skipIf(whyNot !== undefined)("examples/guide-election", () => {
  test("can be followed to the end", { timeout: 120_000 }, async () => {
    // Three terminals.
    const terminals = [guide.start("# terminal 1")];
    await terminals[0]?.says("I am the leader!");
    terminals.push(guide.start("# terminal 2"), guide.start("# terminal 3"));
    await Promise.all(terminals.slice(1).map((terminal) => terminal.says("new leader elected: instance-1")));
    expect(await guide.run("kubectl get lease my-leader-election-lock\n")).toMatch(
      /my-leader-election-lock +instance-1/,
    );
    const [first, ...others] = terminals as [Terminal, ...Terminal[]];
    const since = others.map(({ lines }) => lines.length);
    first.interrupt();
    expect(await first.exitCode).toBe(0);
    const next = await leaderOf(others, since);
    const name = `instance-${next + 2}`;
    await others[1 - next]?.says(`new leader elected: ${name}`, since[1 - next]);
    expect(await guide.run("kubectl get lease my-leader-election-lock --no-headers")).toContain(name);
    for (const terminal of others) terminal.interrupt();
    expect(await Promise.all(others.map(({ exitCode }) => exitCode))).toEqual([0, 0]);

    // In a cluster.
    expect(await guide.run("kubectl apply -f $GUIDE/k8s/namespace.yaml")).toContain(
      "deployment.apps/leader-election",
    );
    expect(await guide.run("kubectl auth can-i")).toBe("yes\n");
    await guide.run("# a kubeconfig with the token");
    const pod1 = guide.start("# pod 1");
    await pod1.says("I am the leader!");
    const pod2 = guide.start("# pod 2");
    await pod2.says("new leader elected: leader-election-1");
    expect(await guide.run("# who leads")).toBe("leader-election-1");
    expect(await guide.run("# the same, and since when")).toMatch(
      /leader +leader-election-1[\s\S]*transitions +0/,
    );
    pod1.kill("SIGKILL");
    await pod2.says("I am the leader!");
    const lease = await guide.run("# the whole Lease");
    expect(lease).toContain("holderIdentity: leader-election-2");
    expect(lease).toContain("leaseTransitions: 1");
    expect(lease).toMatch(/renewTime: "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/);
    pod2.interrupt();
    expect(await pod2.exitCode).toBe(0);

    // Without the ServiceAccount.
    await guide.run("# as the namespace's default account");
    const refused = await guide.shell(guide.block("# refused, with exit code 3"), 3);
    expect(refused).toContain("system:serviceaccount:leader-election-demo:default");
    expect(refused).toContain('verbs: ["get"]');

    // Timings.
    const wrong = await guide.shell(guide.block("# refused, with exit code 2"), 2);
    expect(wrong).toContain("12s");
    expect(wrong).toContain("10s");

    expect(guide.left).toEqual([]);
  });
});
