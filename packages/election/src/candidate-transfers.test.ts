/** A candidate that an operator asks to take over. */
import { recordOf } from "@tenure/testkit";
import { expect, it } from "vitest";
import type { Lock } from "./lock.ts";
import { newRig, type Rig } from "./testing/candidates.ts";

/** The lock is held by b, and an operator asks a to take over. */
async function askedToTakeOver(accept?: Lock["acceptTransfer"]): Promise<Rig> {
  const rig = newRig();
  if (accept) Object.assign(rig.lock, { acceptTransfer: accept });
  const view = rig.server.put(recordOf("b"));
  await rig.clock.pass(5);
  rig.server.view = { ...view, orders: { transfer: { transitions: view.record.leaseTransitions, to: "a" } } };
  rig.candidate.send({ type: "start" });
  await rig.clock.pass(5);
  return rig;
}

it("accepts over the view that has the order", async () => {
  const accepted: (string | undefined)[] = [];
  const { notices, server } = await askedToTakeOver(async (over) => {
    accepted.push(over.orders?.transfer?.to);
    return { kind: "found", view: { ...over, version: "2", revision: 2n, orders: {} } };
  });
  expect(accepted).toEqual(["a"]);
  expect(notices).toContainEqual({ type: "answered", during: "accept", tookMs: 0 });
  expect(server.log).toEqual(["won by b"]);
});

it("reports a lock that shows orders but cannot accept them, and still leads when the holder is gone", async () => {
  const { notices, server, clock } = await askedToTakeOver();
  expect(notices).toContainEqual({
    type: "failed",
    during: "accept",
    failure: { kind: "server", message: "this kind of lock does not support transfers" },
  });
  await clock.pass(20_000);
  expect(server.log).toContain("won by a");
});
