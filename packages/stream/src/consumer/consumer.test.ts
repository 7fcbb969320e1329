import { afterEach, describe, expect, it, vi } from "vitest";
import { StreamError } from "../errors.ts";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";

afterEach(() => vi.unstubAllEnvs());

describe("StreamConsumer: messages", () => {
  it("are processed one by one, in order", async () => {
    const { service, jobs, start } = makeRig();
    void start();
    await settle();
    service.stream.send(1, 2, 3);
    await settle();
    expect(jobs.map(({ id }) => id)).toEqual([1]);
    await jobs[0]?.finish();
    expect(jobs.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("are in flight up to the concurrency limit", async () => {
    const { service, jobs, consumer, start } = makeRig({ concurrency: 3 });
    void start();
    await settle();
    service.stream.send(1, 2, 3, 4, 5);
    await settle();
    expect(consumer.stats().inFlight).toBe(3);
    await jobs[1]?.finish();
    expect(jobs.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    expect(consumer.stats().cursor).toBeUndefined();
    await jobs[0]?.finish();
    expect(consumer.stats().cursor).toBe(2);
  });

  it("stay unread while there is no room, so that flow control stops the server", async () => {
    const { service, start } = makeRig();
    void start();
    await settle();
    let accepted = 0;
    while (service.stream.push({ id: ++accepted })) if (accepted > 1_000) break;
    await settle();
    expect(accepted).toBeLessThan(50);
    expect(service.stream.readableLength).toBeGreaterThan(0);
  });

  it("do not grow the stack if the handler finishes thousands synchronously", async () => {
    const seen: number[] = [];
    const { service, consumer, start } = makeRig({ handle: ({ id }) => seen.push(id) });
    void start();
    await settle();
    service.stream.send(...Array.from({ length: 20_000 }, (_, index) => index + 1));
    await settle();
    expect(seen).toHaveLength(20_000);
    expect(consumer.stats()).toMatchObject({ finished: 20_000, cursor: 20_000, inFlight: 0 });
  });
});

describe("StreamConsumer: a handler that throws", () => {
  it("gets the message again after 1, 2, 4 s, and no later message before that", async () => {
    const { clock, service, jobs, consumer, start } = makeRig();
    void start();
    await settle();
    service.stream.send(1, 2);
    await settle();
    for (const waitMs of [1_000, 2_000, 4_000]) {
      await jobs.at(-1)?.fail(new Error("no"));
      const before = jobs.length;
      await clock.pass(waitMs - 1);
      expect(jobs).toHaveLength(before);
      await clock.pass(1);
      expect(jobs).toHaveLength(before + 1);
    }
    expect(jobs.map(({ id }) => id)).toEqual([1, 1, 1, 1]);
    expect(consumer.stats().cursor).toBeUndefined();
    await jobs.at(-1)?.finish();
    expect(jobs.at(-1)?.id).toBe(2);
  });

  it("makes the consumer unhealthy from the third failure until the message is finished", async () => {
    const { clock, service, jobs, consumer, start } = makeRig();
    const reported: boolean[] = [];
    consumer.on("health", ({ healthy }) => reported.push(healthy));
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    for (const waitMs of [1_000, 2_000]) {
      await jobs.at(-1)?.fail(new Error("no"));
      expect(consumer.health().healthy).toBe(true);
      await clock.pass(waitMs);
    }
    await jobs.at(-1)?.fail(new Error("no"));
    expect(consumer.health()).toMatchObject({ healthy: false, message: "a message failed 3 times in a row" });
    await clock.pass(4_000);
    await jobs.at(-1)?.finish();
    expect(consumer.health().healthy).toBe(true);
    expect(reported).toEqual([true, false, true]);
  });

  it("skips the message if onHandlerError is skip", async () => {
    const failed: string[] = [];
    const { service, jobs, consumer, start } = makeRig({ onHandlerError: "skip" });
    consumer.on("handler-failed", ({ error, decision }) => failed.push(`${error.message}: ${decision}`));
    void start();
    await settle();
    service.stream.send(1, 2);
    await settle();
    await jobs[0]?.fail(new Error("poison"));
    expect(failed).toEqual(["poison: skip"]);
    expect(jobs.at(-1)?.id).toBe(2);
    expect(consumer.stats()).toMatchObject({ cursor: 1, skipped: 1 });
  });

  it("lets a function decide", async () => {
    const { clock, service, jobs, consumer, start } = makeRig({
      onHandlerError: ({ failures }) => (failures < 2 ? "retry" : "skip"),
    });
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    await jobs[0]?.fail(new Error("no"));
    await clock.pass(1_000);
    await jobs[1]?.fail(new Error("no"));
    expect(consumer.stats()).toMatchObject({ cursor: 1, skipped: 1 });
  });

  it("stops the consumer if onHandlerError is stop: other messages in flight finish, and the cursor stays before this one", async () => {
    const { service, jobs, consumer, start } = makeRig({ onHandlerError: "stop", concurrency: 2 });
    const outcome = start();
    await settle();
    service.stream.send(1, 2, 3);
    await settle();
    await jobs[0]?.fail(new Error("poison"));
    expect(consumer.phase).toBe("draining");
    await jobs[1]?.finish();
    const error = await outcome;
    expect(error).toBeInstanceOf(StreamError);
    expect(error).toMatchObject({ code: "HandlerFailed", cause: new Error("poison") });
    expect(consumer.stats().cursor).toBeUndefined();
    expect(service.openClients).toBe(0);
  });

  it("stops the consumer if the cursor function throws, because a skip would leave a gap", async () => {
    const { service, start } = makeRig({
      onHandlerError: "skip",
      cursor: () => {
        throw new Error("no id");
      },
    });
    const outcome = start();
    await settle();
    service.stream.send(1);
    expect(await outcome).toMatchObject({ code: "HandlerFailed" });
  });
});

describe("StreamConsumer", () => {
  it("reports every problem of its options", () => {
    const make = () =>
      makeRig({ concurrency: 0, drainTimeoutMs: 30_000, onEnd: "wait" as never, backOff: { jitter: 2 } });
    expect(make).toThrow(
      /concurrency must be a whole number of at least 1: 0; backOff.jitter must be from 0 to 1: 2; drainTimeoutMs must be less than shutdownTimeoutMs.*30000 >= 20000; onEnd must be "reconnect" or "stop": "wait"/,
    );
  });

  it("cannot start twice or after its end", async () => {
    const { consumer, start } = makeRig();
    const outcome = start();
    await settle();
    await expect(consumer.start()).rejects.toMatchObject({ code: "Misused" });
    await consumer.shutdown();
    expect(await outcome).toBe("resolved");
    await expect(consumer.start()).rejects.toMatchObject({ code: "Misused" });
    await expect(consumer.connect()).rejects.toMatchObject({ code: "Misused" });
  });

  it("sends the fencing token and the identity in its metadata", async () => {
    vi.stubEnv("TENURE_TOKEN", "4711");
    vi.stubEnv("TENURE_IDENTITY", "pod-a");
    const sent: unknown[] = [];
    const { service, start } = makeRig({
      open: (client, call) => {
        sent.push(call.metadata.getMap());
        return service.open(client, call);
      },
      handle: (_message, { metadata }) => sent.push(metadata.getMap()),
    });
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    const fence = { "tenure-token": "4711", "tenure-identity": "pod-a" };
    expect(sent).toEqual([fence, fence]);
  });

  it("continues if a listener throws", async () => {
    const { service, jobs, consumer, start } = makeRig();
    consumer.on("phase", () => {
      throw new Error("mine");
    });
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    void start();
    await settle();
    service.stream.send(1);
    await settle();
    expect(jobs).toHaveLength(1);
    expect(warned).toHaveBeenCalled();
    warned.mockRestore();
  });
});
