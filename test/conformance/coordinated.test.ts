/** Coordinated elections on the sandbox; and on a kube-apiserver that has them off, as by default, what a candidate says about that. */
import { randomUUID } from "node:crypto";
import { Election, LeaseLock } from "@tenure/election";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coordinatedContract } from "./coordinated-contract.ts";
import { connectForLocks, eventually, type LockTarget } from "./locks-target.ts";

const isKubernetes = process.env.TENURE_CONFORMANCE_KUBECONFIG !== undefined;
let target: LockTarget;
beforeAll(async () => {
  target = await connectForLocks();
});
afterAll(() => target.close());

if (!isKubernetes) coordinatedContract(() => target.kubeconfig);

// test/kube/coordinated.test.ts starts a server that has them on.
describe.runIf(isKubernetes)("on a server without LeaseCandidates", () => {
  const newElection = (whenUnavailable?: "elect") =>
    new Election({
      lock: new LeaseLock({
        namespace: "default",
        name: `off-${randomUUID().slice(0, 8)}`,
        kubeconfig: target.kubeconfig,
      }),
      identity: "a",
      coordinated: { version: "1.0.0", ...(whenUnavailable && { whenUnavailable }) },
    });

  it("a candidate says so and what to do, and does not wait for ever", async () => {
    await expect(newElection().run()).rejects.toThrow(
      /does not serve LeaseCandidates .*--feature-gates=CoordinatedLeaderElection=true.*whenUnavailable: "elect"/,
    );
  });

  it('with whenUnavailable "elect" it takes part without coordination, and says so once', async () => {
    const election = newElection("elect");
    const errors: string[] = [];
    election.on("error", ({ error }) => void errors.push(error.message));
    const run = election.run();
    await eventually(() => election.isLeader(), "a leads");
    expect(errors).toEqual([expect.stringContaining("is not coordinated")]);
    await election.stop();
    await run;
  });
});
