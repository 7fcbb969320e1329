import { expect, it } from "vitest";
import { AddressPool, freePodNetworks, loopbackTwin } from "./addresses.ts";

it("an address of the cluster has a twin on this machine", () => {
  expect(loopbackTwin("10.244.1.7")).toBe("127.244.1.7");
  expect(loopbackTwin("127.0.0.1")).toBe("127.0.0.1");
});

it("gives every pod its own address, and used ones again as late as possible", () => {
  const pool = new AddressPool("10.244.3.0/24");
  expect(pool.take("a")).toBe("10.244.3.2");
  expect(pool.take("b")).toBe("10.244.3.3");
  expect(pool.take("a")).toBe("10.244.3.2");
  pool.release("a");
  expect(pool.take("c")).toBe("10.244.3.4");
  for (let index = 0; index < 251; index++) pool.take(`more-${index}`);
  expect(pool.take("too many")).toBeUndefined();
});

it("a pod keeps the address that it had", () => {
  const pool = new AddressPool("10.244.3.0/24");
  expect(pool.take("a", "10.244.3.77")).toBe("10.244.3.77");
  expect(pool.take("b", "10.244.3.77")).toBe("10.244.3.2");
  expect(pool.take("c", "10.244.9.9")).toBe("10.244.3.3");
});

it("finds a network that no node has", () => {
  const [first, second] = freePodNetworks(new Set(["10.244.0.0/24", "10.244.2.0/24"]));
  expect([first, second]).toEqual(["10.244.1.0/24", "10.244.3.0/24"]);
});
