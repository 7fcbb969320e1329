import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { Random } from "../random.ts";
import { Accounts } from "./accounts.ts";
import { credentialKinds, podOf } from "./pod.ts";

describe.each(credentialKinds)("a pod with credentials of the kind %s", (kind) => {
  it.each([1, 2, 3, 4, 5])("is accepted by the API server, also after a rotation (seed %i)", async (seed) => {
    const accounts = new Accounts();
    const clock = new VirtualClock();
    const random = new Random(seed);
    // The simulated plugin never fails, and the token is mounted.
    random.chance = () => false;
    const parts = { kind, clock, random, accounts, slowMs: () => 0, sleep: async () => {} };
    const { load } = podOf({ ...parts, http: undefined as never });
    const { credentials } = await load();
    const isAccepted = async () => {
      const headers = new Headers((await credentials.headers()) as Record<string, string>);
      const { cert } = await credentials.tls();
      return accounts.accepts({ authorization: headers.get("authorization") ?? undefined, cert });
    };
    expect(await isAccepted()).toBe(true);
    accounts.rotate();
    await credentials.refresh();
    expect(await isAccepted()).toBe(true);
  });
});

it("rejects credentials from before a rotation", () => {
  const accounts = new Accounts();
  const proof = { authorization: `Bearer ${accounts.token}`, cert: undefined };
  expect(accounts.accepts(proof)).toBe(true);
  accounts.rotate();
  expect(accounts.accepts(proof)).toBe(false);
  expect(accounts.accepts({ authorization: undefined, cert: undefined })).toBe(false);
});
