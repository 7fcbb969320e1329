/** A consumer of the fake service in virtual time. The test decides when each message is finished. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { StreamConsumer } from "../consumer/consumer.ts";
import type { ConsumerOptions } from "../options.ts";
import { type FakeClient, FakeService, type Item } from "./fake-service.ts";
import { settle } from "./settle.ts";

type Options = Partial<ConsumerOptions<FakeClient, Item, number>>;

interface Job {
  readonly id: number;
  readonly signal: AbortSignal;
  finish(): Promise<void>;
  fail(error: Error): Promise<void>;
}

export function makeRig(options: Options = {}) {
  const clock = new VirtualClock();
  const service = new FakeService();
  const jobs: Job[] = [];
  const log: string[] = [];
  const consumer = new StreamConsumer<FakeClient, Item, number>({
    client: service.client,
    open: service.open,
    cursor: ({ id }) => id,
    handle: ({ id }, { signal }) =>
      new Promise<void>((resolve, reject) => {
        const thenSettle = (action: () => void) => async () => {
          action();
          await settle();
        };
        jobs.push({
          id,
          signal,
          finish: thenSettle(resolve),
          fail: (error) => thenSettle(() => reject(error))(),
        });
      }),
    clock,
    // No jitter: every wait has its full length.
    random: () => 1,
    ...options,
  });
  consumer.on("phase", ({ phase }) => log.push(phase));
  consumer.on("broken", ({ retryInMs }) => log.push(`retry in ${retryInMs}`));
  const start = async (startOptions?: { signal?: AbortSignal }) => {
    const run = consumer.start(startOptions);
    const outcome = run.then(
      () => "resolved" as const,
      (error: Error) => error,
    );
    await settle();
    return outcome;
  };
  return { clock, service, jobs, log, consumer, start };
}
