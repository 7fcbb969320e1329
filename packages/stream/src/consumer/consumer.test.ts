import { afterEach, describe, expect, it, vi } from "vitest";
import { StreamError } from "../errors.ts";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/virtual-clock.ts";

afterEach(() => vi.unstubAllEnvs());

describe("StreamConsumer: messages", () => {
  it("hands them out one by one, in order", async () => {
    const { service, jobs, start } = makeRig();
    void start();
    await settle();
    service.stream.send(1, 2, 3);
    await settle();
    expect(jobs.map(({ id }) => id)).toEqual([1]);
    await jobs[0]?.finish();
    expect(jobs.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("has no more in flight than it may", async () => {
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

  it("leaves the rest unread, so that flow control holds the server", async () => {
    const { service, start } = makeRig();
    void start();
    await settle();
    let accepted = 0;
    while (service.stream.push({ id: ++accepted })) if (accepted > 1_000) break;
    await settle();
    expect(accepted).toBeLessThan(50);
    expect(service.stream.readableLength).toBeGreaterThan(0);
  });

  it("works through thousands that a handler finishes at once without growing the stack", async () => {
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
  it("tries the message again after 1, 2, 4 s, and none behind it meanwhile", async () => {
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

  it("is unhealthy from the third failure until the message is finished", async () => {
    const { clock, service, jobs, consumer, start } = makeRig();
    const told: boolean[] = [];
    consumer.on("health", ({ healthy }) => told.push(healthy));
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
    expect(told).toEqual([true, false, true]);
  });

  it("skips it where that is wanted, and says so", async () => {
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

  it("decides by the failure where a function is given", async () => {
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

  it("stops where that is wanted: the others in flight finish, and the cursor stays before it", async () => {
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

  it("stops if the cursor of a message cannot be told: skipping it would leave a hole", async () => {
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

describe("StreamConsumer: use", () => {
  it("names every problem of its options", () => {
    const make = () =>
      makeRig({ concurrency: 0, drainTimeoutMs: 30_000, onEnd: "wait" as never, backOff: { jitter: 2 } });
    expect(make).toThrow(
      /concurrency must be a whole number from 1: 0; backOff.jitter must be from 0 to 1: 2; drainTimeoutMs must be less than shutdownTimeoutMs.*30000 >= 20000; onEnd must be "reconnect" or "stop": "wait"/,
    );
  });

  it("cannot be started twice, nor after its end", async () => {
    const { consumer, start } = makeRig();
    const outcome = start();
    await settle();
    await expect(consumer.start()).rejects.toMatchObject({ code: "Misused" });
    await consumer.shutdown();
    expect(await outcome).toBe("resolved");
    await expect(consumer.start()).rejects.toMatchObject({ code: "Misused" });
    await expect(consumer.connect()).rejects.toMatchObject({ code: "Misused" });
  });

  it("carries the fencing token and the identity in its metadata", async () => {
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

  it("is not harmed by a listener that throws", async () => {
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
