import { describe, expect, it } from "vitest";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";

const acknowledge = ({ id }: { id: number }) => ({ finished: id });

async function startBidirectional(options: Parameters<typeof makeRig>[0] = {}) {
  const rig = makeRig({ acknowledge, ...options });
  rig.service.isBidirectional = true;
  void rig.start();
  await settle();
  return rig;
}

describe("StreamConsumer: acknowledgements on a bidirectional stream", () => {
  it("are sent when a message is finished, in the order in which they finish", async () => {
    const { service, jobs } = await startBidirectional({ concurrency: 3 });
    service.stream.send(1, 2, 3);
    await settle();
    expect(service.stream.written).toEqual([]);
    await jobs[1]?.finish();
    await jobs[0]?.finish();
    expect(service.stream.written).toEqual([{ finished: 2 }, { finished: 1 }]);
  });

  it("are not sent for a message that failed, and are for one that was skipped", async () => {
    const { clock, service, jobs } = await startBidirectional({
      onHandlerError: ({ failures }) => (failures === 1 ? "retry" : "skip"),
    });
    service.stream.send(1);
    await settle();
    await jobs[0]?.fail(new Error("no"));
    expect(service.stream.written).toEqual([]);
    await clock.pass(1_000);
    await jobs[1]?.fail(new Error("no"));
    expect(service.stream.written).toEqual([{ finished: 1 }]);
  });

  it("are not sent on a stream that has ended; the next stream resumes after the message", async () => {
    const { clock, service, jobs } = await startBidirectional();
    const first = service.stream;
    first.send(1);
    await settle();
    first.finish(14, "gone");
    await settle();
    await jobs[0]?.finish();
    await clock.pass(1_000);
    await settle();
    expect(first.written).toEqual([]);
    expect(service.stream).not.toBe(first);
    expect(service.stream.cursor).toBe(1);
    expect(service.stream.written).toEqual([]);
  });

  it("come before the end of this side, at which the server ends the stream with status OK", async () => {
    const { service, jobs, consumer } = await startBidirectional();
    service.stream.send(1);
    await settle();
    const closing = consumer.shutdown();
    await settle();
    expect(service.stream.hasStatus).toBe(false);
    await jobs[0]?.finish();
    expect(await closing).toMatchObject({ drained: true, streamEnd: "server" });
    expect(service.stream.written).toEqual([{ finished: 1 }]);
    expect(service.stream.isCancelled).toBe(false);
  });
});

it("a handler that retries after the stream has ended gets a new client, with the current certificates", async () => {
  const { clock, service, jobs, start } = makeRig();
  void start();
  await settle();
  service.stream.send(1);
  await settle();
  await jobs[0]?.fail(new Error("no"));
  await clock.pass(1_000);
  expect(service.clients).toHaveLength(1);
  service.stream.finish(14, "gone");
  await settle();
  await jobs[1]?.fail(new Error("certificate expired"));
  await clock.pass(2_000);
  expect(jobs).toHaveLength(3);
  expect(service.clients.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  await jobs[2]?.finish();
  await clock.pass(1_000);
  await settle();
  expect(service.stream.cursor).toBe(1);
  expect(service.openClients).toBe(1);
});
