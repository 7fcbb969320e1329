import { describe, expect, it } from "vitest";
import { StreamError } from "../errors.ts";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";

/** A handler that throws for message 1 and finishes the others. */
const handle = ({ id }: { id: number }) => {
  if (id === 1) throw new Error("poison");
};

async function deliver(options: Parameters<typeof makeRig>[0]) {
  const rig = makeRig({ handle, ...options });
  const decisions: string[] = [];
  rig.consumer.on("handler-failed", ({ decision }) => decisions.push(decision));
  const outcome = rig.start();
  await settle();
  rig.service.stream.send(1, 2);
  await settle();
  return { ...rig, decisions, outcome };
}

describe("StreamConsumer: dead letters", () => {
  it("puts a message aside that failed five times, and goes on after it", async () => {
    const letters: unknown[] = [];
    const { clock, consumer, decisions } = await deliver({
      onDeadLetter: ({ message, failures, error }) => letters.push([message.id, failures, error.message]),
    });
    await clock.pass(1_000 + 2_000 + 4_000 + 7_999);
    expect(letters).toEqual([]);
    expect(consumer.health().healthy).toBe(true);
    await clock.pass(1);
    expect(letters).toEqual([[1, 5, "poison"]]);
    expect(decisions).toEqual(["retry", "retry", "retry", "retry", "dead-letter"]);
    await settle();
    expect(consumer.stats()).toMatchObject({ finished: 2, deadLettered: 1, skipped: 0, cursor: 2 });
  });

  it("waits until the message is put aside, and tries that again if it fails: no message is lost", async () => {
    let [calls, isUp] = [0, false];
    const { clock, consumer, decisions } = await deliver({
      maxFailures: 1,
      onDeadLetter: async () => {
        calls++;
        if (!isUp) throw new Error("the table is locked");
      },
    });
    expect([calls, decisions]).toEqual([1, ["dead-letter", "retry"]]);
    expect(consumer.stats()).toMatchObject({ finished: 0, cursor: undefined });
    await clock.pass(1_000);
    expect(calls).toBe(2);
    isUp = true;
    await clock.pass(2_000);
    await settle();
    expect([calls, consumer.stats()]).toMatchObject([3, { finished: 2, deadLettered: 1, cursor: 2 }]);
  });

  it("makes the consumer unhealthy if they cannot be put aside", async () => {
    const onDeadLetter = () => {
      throw new Error("the table is locked");
    };
    const { clock, consumer } = await deliver({ maxFailures: 2, onDeadLetter });
    await clock.pass(3_000);
    expect(consumer.health().healthy).toBe(true);
    await clock.pass(4_000);
    expect(consumer.health()).toMatchObject({
      healthy: false,
      message: "a message failed 5 times in a row",
    });
  });

  it("stops after the last failure if there is no place for them", async () => {
    const { clock, outcome, decisions } = await deliver({ maxFailures: 2 });
    await clock.pass(1_000);
    await settle();
    const error = await outcome;
    expect(error).toMatchObject({
      code: "HandlerFailed",
      message: "The consumer stopped because its handler threw: poison.",
    });
    expect(decisions).toEqual(["retry", "stop"]);
  });

  it("are also what onHandlerError says is one", async () => {
    const letters: number[] = [];
    const { consumer } = await deliver({
      onHandlerError: () => "dead-letter",
      onDeadLetter: ({ message }) => letters.push(message.id),
    });
    expect(letters).toEqual([1]);
    expect(consumer.stats()).toMatchObject({ finished: 2, deadLettered: 1 });
  });

  it("need a place, and a whole number of failures", () => {
    expect(() => makeRig({ onHandlerError: "dead-letter", maxFailures: 0 })).toThrow(StreamError);
    expect(() => makeRig({ onHandlerError: "dead-letter", maxFailures: 0 })).toThrow(
      'maxFailures must be a whole number of at least 1: 0; onHandlerError "dead-letter" requires onDeadLetter',
    );
  });
});
