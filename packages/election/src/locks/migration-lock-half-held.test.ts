/** A replica that uses both locks never leads while it holds only one of them, and waits for a holder that vanished. */
import { KubeError } from "@tenure/kube";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { fromPath, open, released, signal, toPath, unknown, view } from "../testing/migration-lock.ts";
import { Connection, Rollout } from "../testing/rollout.ts";
import { leaderAnnotation } from "./annotation-lock.ts";

describe("a deletion is no release", () => {
  it.each([
    ["new", toPath],
    ["old", fromPath],
  ] as const)("if the holder uses only the %s lock and is cut off", async (stage, path) => {
    const rollout = new Rollout();
    const { api, clock, log } = rollout;
    // Both objects exist, as in the middle of a migration.
    const { leaseTransitions: leaderTransitions, ...rest } = released;
    const annotations = { [leaderAnnotation]: JSON.stringify({ ...rest, leaderTransitions }) };
    api.put(fromPath, { metadata: { annotations } });
    api.put(toPath, { metadata: {}, spec: released });
    const connection = new Connection(api);
    rollout.start("cut off", stage, { client: connection.client });
    await clock.pass(1_000);
    rollout.start("standby", "both");
    await clock.pass(1_000);
    connection.isCut = true;
    api.delete(path);
    await clock.pass(20_000);
    expect(rollout.mostWorking).toBe(1);
    expect(log).toEqual(["cut off works", "cut off stopped", "standby works"]);
  });

  it("and the deleted object makes the lock another one", async () => {
    for (const path of [fromPath, toPath]) {
      const { api, lock } = open(released, recordOf("b"));
      const before = await view(lock);
      api.delete(path);
      expect((await view(lock)).uid).not.toBe(before.uid);
    }
  });
});

describe("an acquisition that reached only one object", () => {
  it("starts no term, however many tries follow it", async () => {
    const rollout = new Rollout();
    const { api, clock, log } = rollout;
    const timings = { leaseDuration: "15s", renewDeadline: "10s", retryPeriod: "200ms" } as const;
    let isOutage = false;
    api.fail = ({ method, path, body }) => {
      const isOurs = method === "GET" || JSON.stringify(body).includes('"both"');
      if (isOutage) return new KubeError("Unreachable", "outage");
      if (!path.includes("leases") || method === "GET" || !isOurs) return undefined;
      isOutage = true;
      return new KubeError("Unreachable", "the outage begins between the two writes");
    };
    rollout.start("both", "both", timings);
    await clock.pass(8_000);
    expect(api.objects.has(fromPath)).toBe(true);
    expect(api.objects.has(toPath)).toBe(false);
    // From now on only the Lease cannot be created by this replica.
    api.fail = ({ method, path, body }) =>
      method !== "GET" && path.includes("leases") && JSON.stringify(body).includes('"both"')
        ? new KubeError("Unreachable", "x")
        : undefined;
    await clock.pass(500);
    expect(log).toEqual([]);
    rollout.start("new", "new");
    await clock.pass(5_000);
    expect(log).toEqual(["new works"]);
  });

  it("has an unknown holder for its writer, however many writes follow it", async () => {
    const { api, lock } = open(released);
    const before = await view(lock);
    api.fail = ({ path, method }) =>
      method === "POST" && path.includes("leases") ? new KubeError("Unreachable", "x") : undefined;
    for (let n = 0; n < 100; n++) {
      await lock.write(recordOf("me", { renewTime: `${n}` }), before, signal);
    }
    expect((await view(lock)).record.holderIdentity).toBe(unknown);
  });
});
