/** What the consumer does when there is no stream, or no stream any more. */
import { describe, expect, it } from "vitest";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/virtual-clock.ts";

describe("StreamConsumer: reconnecting", () => {
  it("waits 1, 2, 4, 8, 16, 30, 30 s, with one try each and no client in between", async () => {
    const { clock, service, log, start } = makeRig();
    service.connection = "failed";
    void start();
    await settle();
    for (const [index, waitS] of [1, 2, 4, 8, 16, 30, 30].entries()) {
      expect(service.streams).toHaveLength(index + 1);
      expect(service.openClients).toBe(0);
      expect(log.at(-1)).toBe(`again in ${waitS * 1_000}`);
      await clock.pass(waitS * 1_000 - 1);
      expect(service.streams).toHaveLength(index + 1);
      await clock.pass(1);
    }
  });

  it("begins again at 1 s after a finished message, and not before", async () => {
    const { clock, service, jobs, log, start } = makeRig();
    void start();
    await settle();
    service.stream.finish(14, "gone");
    await clock.pass(1_000);
    service.stream.finish(14, "gone");
    await settle();
    expect(log.at(-1)).toBe("again in 2000");
    await clock.pass(2_000);
    service.stream.send(1);
    await settle();
    await jobs[0]?.finish();
    service.stream.finish(14, "gone");
    await settle();
    expect(log.at(-1)).toBe("again in 1000");
  });

  it("begins again at 1 s after a stream that stood for a minute, also without a message", async () => {
    const { clock, service, log, start } = makeRig();
    void start();
    await settle();
    service.stream.finish(14, "gone");
    await clock.pass(1_000);
    await clock.pass(60_000);
    service.stream.finish(14, "gone");
    await settle();
    expect(log.at(-1)).toBe("again in 1000");
  });

  it("resumes behind the last finished message", async () => {
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
    // It may still have calls to make about its message.
    expect(service.openClients).toBe(1);
    await jobs[0]?.finish();
    await clock.pass(1_000);
    expect(service.stream.cursor).toBe(2);
  });

  it("still hands out what had arrived when the stream broke", async () => {
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

  it("gives up a connection that does not stand within 10 s", async () => {
    const { clock, service, log, start } = makeRig();
    service.connection = "connecting";
    void start();
    await clock.pass(9_999);
    expect(log).toEqual(["connecting"]);
    await clock.pass(1);
    expect(service.streams[0]?.isCancelled).toBe(true);
    expect(log.at(-1)).toBe("again in 1000");
  });

  it("ends when the server ends the stream, if that is wanted", async () => {
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

  it("comes again after a clean end, by default", async () => {
    const { clock, service, start } = makeRig();
    void start();
    await settle();
    service.stream.finish();
    await clock.pass(1_000);
    expect(service.streams).toHaveLength(2);
  });

  it("stops on a status that says that coming again is no use", async () => {
    const { service, start } = makeRig({ stopOn: [9] });
    const outcome = start();
    await settle();
    service.stream.finish(9, "a later token was seen");
    expect(await outcome).toMatchObject({ code: "Refused", status: 9 });
    expect(service.openClients).toBe(0);
  });

  it("survives an open that throws", async () => {
    let tries = 0;
    const { clock, service, log, start } = makeRig({
      open: (client, call) => {
        if (++tries === 1) throw new Error("no such method");
        return service.open(client, call);
      },
    });
    void start();
    await settle();
    expect(log.at(-1)).toBe("again in 1000");
    await clock.pass(1_000);
    expect(service.streams).toHaveLength(1);
  });

  it("pings half as often after a server complained of too many", async () => {
    const { clock, service, start } = makeRig();
    void start();
    await settle();
    service.stream.finish(8, "Bandwidth exhausted or memory limit exceeded");
    await clock.pass(1_000);
    const pings = service.clients.map(({ options }) => options["grpc.keepalive_time_ms"]);
    expect(pings).toEqual([20_000, 40_000]);
  });

  it("is unhealthy when there was no stream for a minute, tells so, and recovers", async () => {
    const { clock, service, consumer, start } = makeRig();
    const told: boolean[] = [];
    consumer.on("health", ({ healthy }) => told.push(healthy));
    service.connection = "failed";
    void start();
    await clock.pass(59_999);
    expect(consumer.health()).toMatchObject({ healthy: true, ready: false });
    await clock.pass(1);
    expect(consumer.health()).toMatchObject({ healthy: false, message: "no stream for 60 s" });
    expect(told).toEqual([false]);
    service.connection = "ready";
    await clock.pass(30_000);
    expect(consumer.health()).toMatchObject({ healthy: true, ready: true });
    expect(told).toEqual([false, true]);
  });
});

describe("StreamConsumer.connect", () => {
  it("resolves when the connection stands, which start then uses", async () => {
    const { service, consumer, start } = makeRig();
    await consumer.connect();
    expect(service.streams).toHaveLength(0);
    void start();
    await settle();
    expect(service.clients).toHaveLength(1);
    expect(service.streams).toHaveLength(1);
  });

  it("tries by the back-off until its time is over, then says why", async () => {
    const { clock, service, consumer } = makeRig();
    service.connection = "failed";
    const connecting = consumer.connect({ timeoutMs: 10_000 });
    const outcome = expect(connecting).rejects.toMatchObject({
      code: "Unreachable",
      message: "Cannot reach the server within 10000 ms: the connection failed.",
    });
    await clock.pass(10_000);
    await outcome;
    expect(service.clients).toHaveLength(4);
    expect(service.openClients).toBe(0);
    expect(clock.armed).toBe(0);
  });

  it("can be tried again", async () => {
    const { clock, service, consumer } = makeRig();
    service.connection = "failed";
    const first = consumer.connect({ timeoutMs: 500 }).catch(() => "failed");
    await clock.pass(500);
    expect(await first).toBe("failed");
    service.connection = "ready";
    await consumer.connect();
  });

  it("ends with the shutdown", async () => {
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
