/** The consumer without a stream, or after its stream broke. */
import { describe, expect, it } from "vitest";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";

describe("StreamConsumer: reconnecting", () => {
  it("waits 1, 2, 4, 8, 16, 30, 30 s between attempts, without an open client", async () => {
    const { clock, service, log, start } = makeRig();
    service.connection = "failed";
    void start();
    await settle();
    for (const [index, waitS] of [1, 2, 4, 8, 16, 30, 30].entries()) {
      expect(service.streams).toHaveLength(index + 1);
      expect(service.openClients).toBe(0);
      expect(log.at(-1)).toBe(`retry in ${waitS * 1_000}`);
      await clock.pass(waitS * 1_000 - 1);
      expect(service.streams).toHaveLength(index + 1);
      await clock.pass(1);
    }
  });

  it("makes each wait up to a fifth shorter at random", async () => {
    const { clock, service, log, start } = makeRig({ random: () => 0 });
    service.connection = "failed";
    void start();
    await clock.pass(800);
    expect(log.filter((line) => line.startsWith("retry"))).toEqual(["retry in 800", "retry in 1600"]);
  });

  it("resets the back-off after a finished message, and not before", async () => {
    const { clock, service, jobs, log, start } = makeRig();
    void start();
    await settle();
    service.stream.finish(14, "gone");
    await clock.pass(1_000);
    service.stream.finish(14, "gone");
    await settle();
    expect(log.at(-1)).toBe("retry in 2000");
    await clock.pass(2_000);
    service.stream.send(1);
    await settle();
    await jobs[0]?.finish();
    service.stream.finish(14, "gone");
    await settle();
    expect(log.at(-1)).toBe("retry in 1000");
  });

  it("resets the back-off after a stream that was open for a minute, even without a message", async () => {
    const { clock, service, log, start } = makeRig();
    void start();
    await settle();
    service.stream.finish(14, "gone");
    await clock.pass(1_000);
    await clock.pass(60_000);
    service.stream.finish(14, "gone");
    await settle();
    expect(log.at(-1)).toBe("retry in 1000");
  });

  it("resumes after the last finished message", async () => {
    const { clock, service, jobs, start } = makeRig({ resumeFrom: 40 });
    void start();
    await settle();
    expect(service.stream.cursor).toBe(40);
    service.stream.send(41, 42);
    await settle();
    await jobs[0]?.finish();
    await jobs[1]?.finish();
    service.stream.finish(14, "gone");
    await clock.pass(1_000);
    expect(service.stream.cursor).toBe(42);
  });

  it("does not open another stream while a message of the old one is in flight", async () => {
    const { clock, service, jobs, start } = makeRig({ concurrency: 2 });
    void start();
    await settle();
    service.stream.send(1, 2);
    await settle();
    await jobs[1]?.finish();
    service.stream.finish(14, "gone");
    await clock.pass(60_000);
    expect(service.streams).toHaveLength(1);
    // The handler may still make calls about its message.
    expect(service.openClients).toBe(1);
    await jobs[0]?.finish();
    await clock.pass(1_000);
    expect(service.stream.cursor).toBe(2);
  });

  it("delivers messages that arrived before the stream broke", async () => {
    const { clock, service, jobs, start } = makeRig();
    void start();
    await settle();
    service.stream.send(1, 2, 3);
    service.stream.finish(14, "gone");
    await settle();
    for (let index = 0; index < 3; index++) await jobs[index]?.finish();
    expect(jobs.map(({ id }) => id)).toEqual([1, 2, 3]);
    await clock.pass(1_000);
    expect(service.stream.cursor).toBe(3);
  });

  it("cancels an attempt that does not connect within 10 s", async () => {
    const { clock, service, log, start } = makeRig();
    service.connection = "connecting";
    void start();
    await clock.pass(9_999);
    expect(log).toEqual(["connecting"]);
    await clock.pass(1);
    expect(service.streams[0]?.isCancelled).toBe(true);
    expect(log.at(-1)).toBe("retry in 1000");
  });

  it("stops when the server ends the stream, if onEnd is stop", async () => {
    const { service, jobs, start } = makeRig({ onEnd: "stop" });
    const outcome = start();
    await settle();
    service.stream.send(1);
    service.stream.finish();
    await settle();
    await jobs[0]?.finish();
    expect(await outcome).toBe("resolved");
    expect(service.openClients).toBe(0);
  });

  it("reconnects after a clean end by default", async () => {
    const { clock, service, start } = makeRig();
    void start();
    await settle();
    service.stream.finish();
    await clock.pass(1_000);
    expect(service.streams).toHaveLength(2);
  });

  it("stops on a status in stopOn", async () => {
    const { service, start } = makeRig({ stopOn: [9] });
    const outcome = start();
    await settle();
    service.stream.finish(9, "a later token was seen");
    expect(await outcome).toMatchObject({ code: "Refused", status: 9 });
    expect(service.openClients).toBe(0);
  });

  it("retries when open throws", async () => {
    let tries = 0;
    const { clock, service, log, start } = makeRig({
      open: (client, call) => {
        if (++tries === 1) throw new Error("no such method");
        return service.open(client, call);
      },
    });
    void start();
    await settle();
    expect(log.at(-1)).toBe("retry in 1000");
    await clock.pass(1_000);
    expect(service.streams).toHaveLength(1);
  });

  it("pings half as often after the server reported too many pings", async () => {
    const { clock, service, start } = makeRig();
    void start();
    await settle();
    service.stream.finish(8, "Bandwidth exhausted or memory limit exceeded");
    await clock.pass(1_000);
    const pings = service.clients.map(({ options }) => options["grpc.keepalive_time_ms"]);
    expect(pings).toEqual([20_000, 40_000]);
  });

  it("is unhealthy after a minute without a stream, reports that, and recovers", async () => {
    const { clock, service, consumer, start } = makeRig();
    const reported: boolean[] = [];
    consumer.on("health", ({ healthy }) => reported.push(healthy));
    service.connection = "failed";
    void start();
    await clock.pass(59_999);
    expect(consumer.health()).toMatchObject({ healthy: true, ready: false });
    await clock.pass(1);
    expect(consumer.health()).toMatchObject({
      healthy: false,
      message: "no stream has worked for 60 s: The stream broke: 14: refused.",
    });
    expect(reported).toEqual([false]);
    service.connection = "ready";
    await clock.pass(30_000);
    expect(consumer.health()).toMatchObject({ healthy: true, ready: true });
    expect(reported).toEqual([false, true]);
  });
});

describe("StreamConsumer.connect", () => {
  it("resolves when the consumer is connected, and start uses that connection", async () => {
    const { service, consumer, start } = makeRig();
    await consumer.connect();
    expect(service.streams).toHaveLength(0);
    void start();
    await settle();
    expect(service.clients).toHaveLength(1);
    expect(service.streams).toHaveLength(1);
  });

  it("retries until its time limit, then rejects with the reason", async () => {
    const { clock, service, consumer } = makeRig();
    service.connection = "failed";
    const connecting = consumer.connect({ timeoutMs: 10_000 });
    const outcome = expect(connecting).rejects.toMatchObject({
      code: "Unreachable",
      message: "Cannot connect to the server within 10000 ms: the connection failed.",
    });
    await clock.pass(10_000);
    await outcome;
    expect(service.clients).toHaveLength(4);
    expect(service.openClients).toBe(0);
    expect(clock.armed).toBe(0);
  });

  it("can be called again after a failure", async () => {
    const { clock, service, consumer } = makeRig();
    service.connection = "failed";
    const first = consumer.connect({ timeoutMs: 500 }).catch(() => "failed");
    await clock.pass(500);
    expect(await first).toBe("failed");
    service.connection = "ready";
    await consumer.connect();
  });

  it("rejects when the consumer is shut down", async () => {
    const { clock, service, consumer } = makeRig();
    service.connection = "connecting";
    const connecting = consumer.connect().catch((error) => error.code);
    await settle();
    await consumer.shutdown();
    expect(await connecting).toBe("Misused");
    expect(service.openClients).toBe(0);
    expect(clock.armed).toBe(0);
  });
});
