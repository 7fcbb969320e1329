import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import { FakeClient } from "../testing/fake-service.ts";
import { waitForReady } from "./wait-for-ready.ts";

function setUp() {
  const clock = new VirtualClock();
  const client = new FakeClient({}, "connecting");
  const wait = waitForReady(client, clock, 10_000);
  const outcome = wait.done.then(
    () => "ready",
    (error: Error) => error.message,
  );
  return { clock, client, wait, outcome };
}

describe("waitForReady", () => {
  it("resolves when the client is connected", async () => {
    const { clock, client, outcome } = setUp();
    client.become("connecting");
    client.become("ready");
    expect(await outcome).toBe("ready");
    expect(clock.armed).toBe(0);
  });

  it("rejects at the first failure", async () => {
    const { clock, client, outcome } = setUp();
    client.become("failed");
    expect(await outcome).toBe("the connection failed");
    expect(clock.armed).toBe(0);
  });

  it("rejects when the client is closed", async () => {
    const { client, outcome } = setUp();
    client.close();
    expect(await outcome).toBe("the client was closed");
  });

  it("rejects at the time limit, and ignores a later connection", async () => {
    const { clock, client, outcome } = setUp();
    await clock.pass(10_000);
    client.become("ready");
    expect(await outcome).toBe("no connection within 10000 ms");
  });

  it("can be cancelled", async () => {
    const { clock, wait, outcome } = setUp();
    wait.cancel();
    expect(await outcome).toBe("the wait was cancelled");
    expect(clock.armed).toBe(0);
  });
});
