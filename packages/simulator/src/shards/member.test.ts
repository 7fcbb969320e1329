import { expect, it } from "vitest";
import { Random } from "../random.ts";
import { Scheduler } from "../scheduler.ts";
import { SimulatedMember } from "./member.ts";
import type { MemberHooks } from "./participant.ts";
import { SetServer } from "./server.ts";

it("a thousand shards on five members cost as many writes as five leases", async () => {
  const scheduler = new Scheduler();
  const server = new SetServer();
  let starts = 0;
  const hooks: MemberHooks = { started: () => (starts += 1), log: () => {} };
  const members = ["a", "b", "c", "d", "e"].map(
    (identity) =>
      new SimulatedMember(
        {
          identity,
          count: 1_000,
          leaseSeconds: 15,
          mostPerMember: Number.POSITIVE_INFINITY,
          passOn: false,
          waitWhenAbsent: false,
          rate: 1,
          stopMs: 0,
        },
        scheduler,
        server,
        new Random(1),
        hooks,
      ),
  );
  await scheduler.run(60_000, async () => {});
  expect(members.map(({ works }) => works.size)).toEqual([200, 200, 200, 200, 200]);
  expect(starts).toBe(1_000);
  const before = server.changes.length;
  await scheduler.run(120_000, async () => {});
  expect(server.changes.length - before).toBeLessThanOrEqual(105);
  expect(server.changes.length - before).toBeGreaterThan(90);
});
