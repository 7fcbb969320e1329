import type { Clock } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Election, ElectionEvents } from "@tenure/election";
import type { KubeClient } from "@tenure/kube";
import { expect, it } from "vitest";
import { logLeader } from "./leader-log.ts";

function logged(clock: Clock) {
  let fail = (_event: ElectionEvents["error"]) => {};
  const election = {
    identity: "a",
    on: (name: string, listener: never) => {
      if (name === "error") fail = listener;
      return () => {};
    },
  } as unknown as Election;
  const lines: string[] = [];
  const log = {
    info: () => {},
    warn: (text: string) => lines.push(text),
    error: () => {},
    close: async () => {},
  };
  const client = { request: async () => ({ status: { allowed: false } }) } as unknown as KubeClient;
  const connection = { client, namespace: "prod" };
  logLeader(election, { flags: { leaseLockName: "billing" }, connection, log, clock });
  return {
    lines,
    fail: (message: string, kind: "denied" | "timeout") =>
      fail({ error: new Error(message), failure: { kind, message } }),
  };
}

it("an error that repeats is logged less and less often", async () => {
  const clock = new VirtualClock();
  const { lines, fail } = logged(clock);
  for (let i = 0; i < 8; i++) {
    fail("no answer", "timeout");
    await clock.pass(1_000);
  }
  expect(lines).toEqual([
    "a: no answer",
    "a: no answer (1 more since the last message)",
    "a: no answer (3 more since the last message)",
  ]);
});

it("a denied request is followed by all rights that are missing", async () => {
  const { lines, fail } = logged(new VirtualClock());
  fail("may not get leases", "denied");
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toMatch(/^a: this replica may not .*get.*update/);
});
