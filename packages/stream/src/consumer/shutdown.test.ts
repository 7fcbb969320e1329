/** The four steps of a shutdown: take nothing more, finish what is in flight, end the stream, close the connection. */
import { describe, expect, it } from "vitest";
import type { ShutdownReport } from "../events.ts";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/virtual-clock.ts";

async function underLoad(options: Parameters<typeof makeRig>[0] = {}) {
  const rig = makeRig(options);
  const outcome = rig.start();
  await settle();
  rig.service.stream.send(1, 2, 3);
  await settle();
  return { ...rig, outcome };
}

describe("StreamConsumer.shutdown", () => {
  it("takes nothing more, finishes what is in flight, cancels, closes", async () => {
    const { clock, service, jobs, consumer, outcome, log } = await underLoad();
    const shutdown = consumer.shutdown();
    await settle();
    expect(consumer.health().ready).toBe(false);
    expect(service.stream.isCancelled).toBe(false);
    await jobs[0]?.finish();
    expect(await shutdown).toEqual({
      drained: true,
      abandoned: 0,
      givenUp: 0,
      streamEnd: "cancelled",
      message: "every message in flight was finished; the stream was cancelled",
    });
    expect(await outcome).toBe("resolved");
    expect(jobs).toHaveLength(1);
    expect(service.stream.isCancelled).toBe(true);
    expect(service.openClients).toBe(0);
    expect(clock.armed).toBe(0);
    expect(log.slice(-2)).toEqual(["draining", "closed"]);
  });

  it("reads nothing more while it drains, so that flow control holds the server", async () => {
    const { service, jobs, consumer, start } = makeRig({ concurrency: 2 });
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    const shutdown = consumer.shutdown();
    service.stream.send(2, 3);
    await settle();
    expect(service.stream.readableLength).toBe(2);
    await jobs[0]?.finish();
    await shutdown;
    expect(jobs).toHaveLength(1);
  });

  it("ends at the drain time with a stuck handler, tells it, and says so", async () => {
    const { clock, service, jobs, consumer, outcome } = await underLoad();
    const reports: ShutdownReport[] = [];
    void consumer.shutdown().then((report) => reports.push(report));
    await clock.pass(14_999);
    expect(reports).toEqual([]);
    expect(jobs[0]?.signal.aborted).toBe(false);
    await clock.pass(1);
    expect(reports).toMatchObject([{ drained: false, abandoned: 1, streamEnd: "cancelled" }]);
    expect(reports[0]?.message).toContain("1 message was still in flight when the drain time was over");
    expect(jobs[0]?.signal.aborted).toBe(true);
    expect(await outcome).toBe("resolved");
    expect(service.openClients).toBe(0);
  });

  it("leaves time to close when it is given less than usual", async () => {
    const { clock, consumer } = await underLoad();
    const reports: ShutdownReport[] = [];
    void consumer.shutdown(4_000).then((report) => reports.push(report));
    await clock.pass(2_999);
    expect(reports).toEqual([]);
    await clock.pass(1);
    expect(reports).toMatchObject([{ abandoned: 1 }]);
  });

  it("is shortened, never lengthened, by another call", async () => {
    const { clock, consumer } = await underLoad();
    const first = consumer.shutdown();
    const second = consumer.shutdown(60_000);
    await clock.pass(1_000);
    const third = consumer.shutdown(0);
    await clock.pass(0);
    expect(await first).toMatchObject({ abandoned: 1 });
    expect(await second).toBe(await first);
    expect(await third).toBe(await first);
  });

  it("asks the service to end the stream when all is finished, and reads to its end", async () => {
    const asked: unknown[] = [];
    const { service, jobs, consumer } = await underLoad({
      onDrain: ({ cursor, client }) => {
        asked.push(cursor);
        client.streams[0]?.send(4, 5);
        client.streams[0]?.finish();
      },
    });
    const shutdown = consumer.shutdown();
    await settle();
    expect(asked).toEqual([]);
    await jobs[0]?.finish();
    expect(await shutdown).toMatchObject({ drained: true, streamEnd: "server" });
    expect(asked).toEqual([1]);
    expect(jobs).toHaveLength(1);
    expect(service.stream.isCancelled).toBe(false);
  });

  it("cancels a stream that the service was asked to end and did not", async () => {
    const { clock, service, jobs, consumer } = await underLoad({ onDrain: async () => {} });
    const shutdown = consumer.shutdown();
    await settle();
    await jobs[0]?.finish();
    await clock.pass(15_000);
    expect(await shutdown).toMatchObject({ drained: true, streamEnd: "cancelled" });
    expect((await shutdown).message).toContain("the server did not end it within the drain time");
    expect(service.stream.isCancelled).toBe(true);
  });

  it("cancels at once when the service refuses the leave", async () => {
    const { jobs, consumer } = await underLoad({
      onDrain: async () => {
        throw new Error("not now");
      },
    });
    const shutdown = consumer.shutdown();
    await settle();
    await jobs[0]?.finish();
    expect(await shutdown).toMatchObject({ streamEnd: "cancelled" });
    expect((await shutdown).message).toContain("the leave was refused: not now");
  });

  it("does not ask a service to end the stream while a message is unfinished", async () => {
    let asked = 0;
    const { clock, consumer } = await underLoad({ onDrain: () => ++asked });
    const shutdown = consumer.shutdown();
    await clock.pass(15_000);
    await shutdown;
    expect(asked).toBe(0);
  });

  it("does not wait for a message that waits for another try", async () => {
    const { service, jobs, consumer } = await underLoad();
    await jobs[0]?.fail(new Error("no"));
    const report = await consumer.shutdown();
    expect(report).toMatchObject({ drained: true, givenUp: 1 });
    expect(report.message).toContain("1 message was given up as the handler threw");
    expect(consumer.stats().cursor).toBeUndefined();
    expect(jobs).toHaveLength(1);
    expect(service.openClients).toBe(0);
  });

  it("ends the back-off", async () => {
    const { clock, service, consumer, start } = makeRig();
    service.connection = "failed";
    const outcome = start();
    await clock.pass(20_000);
    expect(await consumer.shutdown()).toMatchObject({ streamEnd: "none" });
    expect(await outcome).toBe("resolved");
    expect(clock.armed).toBe(0);
  });

  it("ends a connection that is being made", async () => {
    const { clock, service, consumer, start } = makeRig();
    service.connection = "connecting";
    const outcome = start();
    await settle();
    expect(await consumer.shutdown()).toMatchObject({ streamEnd: "cancelled" });
    expect(await outcome).toBe("resolved");
    expect(clock.armed).toBe(0);
  });

  it("follows the signal", async () => {
    const shutdown = new AbortController();
    const { service, jobs, start } = makeRig();
    const outcome = start({ signal: shutdown.signal });
    await settle();
    service.stream.send(1);
    await settle();
    shutdown.abort();
    await settle();
    await jobs[0]?.finish();
    expect(await outcome).toBe("resolved");
    expect(service.openClients).toBe(0);
  });

  it("follows a signal that had aborted before the start", async () => {
    const { service, start } = makeRig();
    expect(await start({ signal: AbortSignal.abort() })).toBe("resolved");
    expect(service.openClients).toBe(0);
  });

  it("ends a consumer that was never started", async () => {
    const { consumer } = makeRig();
    expect(await consumer.shutdown()).toMatchObject({ drained: true, streamEnd: "none" });
    expect(consumer.phase).toBe("closed");
  });

  it("gives a straggling handler no client to go on with", async () => {
    let late: () => unknown = () => {};
    const { clock, service, consumer, start } = makeRig({
      handle: (_message, context) => {
        late = () => context.client;
        return new Promise(() => {});
      },
    });
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    void consumer.shutdown();
    await clock.pass(15_000);
    expect(late).toThrow("There is no client any more");
    expect(service.openClients).toBe(0);
  });
});
