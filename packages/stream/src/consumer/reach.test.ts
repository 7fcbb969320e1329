import { describe, expect, it } from "vitest";
import { FakeClient } from "../testing/fake-service.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { reach } from "./reach.ts";

function setUp() {
  const clock = new VirtualClock();
  const client = new FakeClient({}, "connecting");
  const reaching = reach(client, clock, 10_000);
  const outcome = reaching.done.then(
    () => "ready",
    (error: Error) => error.message,
  );
  return { clock, client, reaching, outcome };
}

describe("reach", () => {
  it("resolves when the connection stands", async () => {
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

  it("rejects when its time is over, and hears nothing after that", async () => {
    const { clock, client, outcome } = setUp();
    await clock.pass(10_000);
    client.become("ready");
    expect(await outcome).toBe("no connection within 10000 ms");
  });

  it("can be cancelled", async () => {
    const { clock, reaching, outcome } = setUp();
    reaching.cancel();
    expect(await outcome).toBe("no longer wanted");
    expect(clock.armed).toBe(0);
  });
});
