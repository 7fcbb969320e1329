/** What a consumer reports about servers that accept the connection, but no stream, over real gRPC. */
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, consume, serveItems, until } from "./support.ts";

afterEach(closeAll);

describe("health", () => {
  it("fails if the server refuses every stream", async () => {
    const port = await serveItems((call) => call.emit("error", { code: 7, details: "no access" }));
    const { consumer, breaks, clock } = consume(port);
    const ready: boolean[] = [];
    consumer.on("health", (health) => ready.push(health.ready));
    await breaks(7);
    await clock.pass(30_000);
    expect(consumer.health()).toMatchObject({ healthy: false, ready: false });
    expect(consumer.health().message).toMatch(
      /^no stream has worked for \d+ s: The stream broke: 7 PERMISSION_DENIED: no access\.$/,
    );
    expect(ready).not.toContain(true);
  });

  it("fails if the next message is too large, and names both sizes", async () => {
    const port = await serveItems((call) => call.write({ id: 1, text: "x".repeat(5_000) }));
    const { consumer, breaks, clock, broken } = consume(port, { maxMessageBytes: 4_000 });
    await breaks(7);
    await clock.pass(30_000);
    expect(broken[0]?.message).toMatch(
      /^The server sent a message of 50\d\d bytes, but maxMessageBytes is 4000\. Raise maxMessageBytes/,
    );
    expect(consumer.health().healthy).toBe(false);
  });

  it("a larger limit lets the message through", async () => {
    const port = await serveItems((call) => call.write({ id: 1, text: "x".repeat(5_000_000) }));
    const { consumer, handled } = consume(port, { maxMessageBytes: 10_000_000 });
    await until(() => handled.length === 1, "the message");
    expect(consumer.health()).toMatchObject({ healthy: true, ready: true });
  });

  it("is ready when the server sends headers, before the first message", async () => {
    const port = await serveItems((call) => call.sendMetadata(call.metadata));
    const { consumer } = consume(port);
    await until(() => consumer.health().ready, "readiness");
    expect(consumer.stats().finished).toBe(0);
  });
});
