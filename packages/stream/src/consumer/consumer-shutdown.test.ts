/** The four steps of a shutdown: take no more messages, finish those in flight, end the stream, close the connection. */
import { describe, expect, it } from "vitest";
import type { ShutdownReport } from "../events.ts";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";

async function underLoad(options: Parameters<typeof makeRig>[0] = {}) {
  const rig = makeRig(options);
  const outcome = rig.start();
  await settle();
  rig.service.stream.send(1, 2, 3);
  await settle();
  return { ...rig, outcome };
}

describe("StreamConsumer.shutdown", () => {
  it("takes no more messages, finishes those in flight, cancels the stream and closes the connection", async () => {
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

  it("reads nothing while it drains, so that flow control stops the server", async () => {
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

  it("ends after the drain time if a handler hangs, aborts its signal and reports it", async () => {
    const { clock, service, jobs, consumer, outcome } = await underLoad();
    const reports: ShutdownReport[] = [];
    void consumer.shutdown().then((report) => reports.push(report));
    await clock.pass(14_999);
    expect(reports).toEqual([]);
    expect(jobs[0]?.signal.aborted).toBe(false);
    await clock.pass(1);
    await settle();
    expect(reports).toMatchObject([{ drained: false, abandoned: 1, streamEnd: "cancelled" }]);
    expect(reports[0]?.message).toContain("1 message was still in flight when the drain time was over");
    expect(jobs[0]?.signal.aborted).toBe(true);
    expect(await outcome).toBe("resolved");
    expect(service.openClients).toBe(0);
  });

  it("leaves time to close if the caller gives less time than configured", async () => {
    const { clock, consumer } = await underLoad();
    const reports: ShutdownReport[] = [];
    void consumer.shutdown(4_000).then((report) => reports.push(report));
    await clock.pass(2_999);
    expect(reports).toEqual([]);
    await clock.pass(1);
    await settle();
    expect(reports).toMatchObject([{ abandoned: 1 }]);
  });

  it("becomes shorter, never longer, by another call", async () => {
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

  it("calls onDrain when all messages are finished, and reads until the server ends the stream", async () => {
    const cursors: unknown[] = [];
    const { service, jobs, consumer } = await underLoad({
      onDrain: ({ cursor, client }) => {
        cursors.push(cursor);
        client.streams[0]?.send(4, 5);
        client.streams[0]?.finish();
      },
    });
    const shutdown = consumer.shutdown();
    await settle();
    expect(cursors).toEqual([]);
    await jobs[0]?.finish();
    expect(await shutdown).toMatchObject({ drained: true, streamEnd: "server" });
    expect(cursors).toEqual([1]);
    expect(jobs).toHaveLength(1);
    expect(service.stream.isCancelled).toBe(false);
  });

  it("cancels the stream if the server does not end it after onDrain", async () => {
    const { clock, service, jobs, consumer } = await underLoad({ onDrain: async () => {} });
    const shutdown = consumer.shutdown();
    await settle();
    await jobs[0]?.finish();
    await clock.pass(15_000);
    expect(await shutdown).toMatchObject({ drained: true, streamEnd: "cancelled" });
    expect((await shutdown).message).toContain("the server did not end it within the drain time");
    expect(service.stream.isCancelled).toBe(true);
  });

  it("cancels the stream at once if onDrain fails", async () => {
    const { jobs, consumer } = await underLoad({
      onDrain: async () => {
        throw new Error("not now");
      },
    });
    const shutdown = consumer.shutdown();
    await settle();
    await jobs[0]?.finish();
    expect(await shutdown).toMatchObject({ streamEnd: "cancelled" });
    expect((await shutdown).message).toContain("onDrain failed: not now");
  });

  it("does not call onDrain if a message is unfinished", async () => {
    let calls = 0;
    const { clock, consumer } = await underLoad({ onDrain: () => ++calls });
    const shutdown = consumer.shutdown();
    await clock.pass(15_000);
    await shutdown;
    expect(calls).toBe(0);
  });

  it("does not wait for a message that waits for its next attempt", async () => {
    const { service, jobs, consumer } = await underLoad();
    await jobs[0]?.fail(new Error("no"));
    const report = await consumer.shutdown();
    expect(report).toMatchObject({ drained: true, givenUp: 1 });
    expect(report.message).toContain("1 message was given up because the handler threw");
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

  it("ends an attempt to connect", async () => {
    const { clock, service, consumer, start } = makeRig();
    service.connection = "connecting";
    const outcome = start();
    await settle();
    expect(await consumer.shutdown()).toMatchObject({ streamEnd: "cancelled" });
    expect(await outcome).toBe("resolved");
    expect(clock.armed).toBe(0);
  });

  it("starts when the signal aborts", async () => {
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

  it("starts at once if the signal has already aborted", async () => {
    const { service, start } = makeRig();
    expect(await start({ signal: AbortSignal.abort() })).toBe("resolved");
    expect(service.openClients).toBe(0);
  });

  it("ends a consumer that was never started", async () => {
    const { consumer } = makeRig();
    expect(await consumer.shutdown()).toMatchObject({ drained: true, streamEnd: "none" });
    expect(consumer.phase).toBe("closed");
  });

  it("leaves no client for a handler that still runs", async () => {
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
    expect(late).toThrow("There is no client, because the consumer was shut down");
    expect(service.openClients).toBe(0);
  });
});
