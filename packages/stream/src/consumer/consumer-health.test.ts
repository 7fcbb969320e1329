import { describe, expect, it } from "vitest";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";

describe("StreamConsumer: health", () => {
  it("is unhealthy if the server refuses every stream, although it can connect", async () => {
    const { clock, service, consumer, start } = makeRig();
    const reported: boolean[] = [];
    consumer.on("health", ({ healthy }) => reported.push(healthy));
    service.refusal = { code: 7, details: "no access" };
    void start();
    for (let second = 0; second < 60; second++) {
      expect(consumer.health()).toMatchObject({ healthy: true, ready: false });
      await clock.pass(1_000);
      await settle();
    }
    expect(service.streams.length).toBeGreaterThan(4);
    expect(consumer.health()).toMatchObject({
      healthy: false,
      ready: false,
      message: "no stream has worked for 60 s: The stream broke: 7: no access.",
    });
    expect(reported).toEqual([false]);
    service.refusal = undefined;
    await clock.pass(30_000);
    service.stream.send(1);
    await settle();
    expect(consumer.health()).toMatchObject({ healthy: true, ready: true });
    expect(reported).toEqual([false, true]);
  });

  it("is unhealthy if every stream breaks because of a message that is too large", async () => {
    const { clock, service, consumer, start } = makeRig({ maxMessageBytes: 1_000 });
    const codes = new Set<string>();
    consumer.on("broken", ({ error }) => codes.add(error.code));
    service.refusal = { code: 8, details: "Received message larger than max (2000 vs 1000)" };
    void start();
    await settle();
    for (let second = 0; second < 60; second++) {
      await clock.pass(1_000);
      await settle();
    }
    expect(consumer.health()).toMatchObject({
      healthy: false,
      message:
        "no stream has worked for 60 s: The server sent a message of 2000 bytes, but maxMessageBytes is 1000. Raise maxMessageBytes, or let the server send smaller messages.",
    });
    expect([...codes]).toEqual(["MessageTooLarge"]);
    expect(service.clients[0]?.options["grpc.max_receive_message_length"]).toBe(1_000);
  });

  it("is ready when a message arrives, when the server accepts the stream, or after a while", async () => {
    const rigs = [makeRig(), makeRig(), makeRig()] as const;
    for (const { start } of rigs) void start();
    await settle();
    const [message, headers, idle] = rigs;
    expect(rigs.map(({ consumer }) => consumer.health().ready)).toEqual([false, false, false]);
    message.service.stream.send(1);
    headers.service.stream.sendHeaders();
    await settle();
    expect(rigs.map(({ consumer }) => consumer.health().ready)).toEqual([true, true, false]);
    await idle.clock.pass(1_999);
    expect(idle.consumer.health().ready).toBe(false);
    await idle.clock.pass(1);
    expect(idle.consumer.health().ready).toBe(true);
  });

  it("is not ready while the next stream is not accepted", async () => {
    const { clock, service, consumer, start } = makeRig();
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    service.stream.finish(14, "gone");
    await settle();
    expect(consumer.health().ready).toBe(false);
    await clock.pass(1_000);
    await settle();
    expect(consumer.health().ready).toBe(false);
  });

  it("headers alone do not prove that a stream works", async () => {
    const { clock, service, consumer, start } = makeRig({ unhealthyAfterMs: 10_000 });
    void start();
    await settle();
    for (let second = 0; second < 10; second++) {
      if (!service.stream.hasStatus) {
        service.stream.sendHeaders();
        service.stream.finish(13, "internal");
      }
      await settle();
      await clock.pass(1_000);
      await settle();
    }
    expect(consumer.health().healthy).toBe(false);
  });
});

describe("StreamConsumer: a handler that does not return", () => {
  it("is told to stop, makes the consumer unhealthy, and does not get the message again", async () => {
    const { clock, service, consumer, jobs, start } = makeRig({ handlerTimeoutMs: 5_000 });
    const reported: boolean[] = [];
    consumer.on("health", ({ healthy, ready }) => ready && reported.push(healthy));
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    await clock.pass(4_999);
    expect(jobs[0]?.signal.aborted).toBe(false);
    expect(consumer.health().healthy).toBe(true);
    await clock.pass(1);
    expect(jobs[0]?.signal.reason).toMatchObject({
      code: "HandlerTimeout",
      message: "the handler did not return within 5000 ms",
    });
    await clock.pass(55_000);
    expect(consumer.health()).toMatchObject({
      healthy: false,
      message: "a handler has not returned for 60 s",
    });
    expect(jobs).toHaveLength(1);
    await jobs[0]?.finish();
    expect(consumer.health().healthy).toBe(true);
    expect(consumer.stats()).toMatchObject({ finished: 1, cursor: 1 });
    expect(reported).toEqual([true, false, true]);
  });

  it("gets the message again with a new signal if it throws when it is told to stop", async () => {
    const { clock, service, consumer, jobs, start } = makeRig({ handlerTimeoutMs: 5_000 });
    const failures: unknown[] = [];
    consumer.on("handler-failed", ({ error, decision }) => failures.push([error.message, decision]));
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    await clock.pass(5_000);
    await jobs[0]?.fail(new Error("aborted"));
    expect(failures).toEqual([["the handler did not return within 5000 ms", "retry"]]);
    await clock.pass(1_000);
    expect(jobs.map(({ id, signal }) => [id, signal.aborted])).toEqual([
      [1, true],
      [1, false],
    ]);
  });

  it("does not keep a shutdown waiting longer than the drain time, and is told", async () => {
    const { clock, service, consumer, jobs, start } = makeRig({ handlerTimeoutMs: Number.POSITIVE_INFINITY });
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    const closing = consumer.shutdown();
    await clock.pass(15_000);
    expect(await closing).toMatchObject({ drained: false, abandoned: 1 });
    expect(jobs[0]?.signal.aborted).toBe(true);
  });
});
