/** The one thing that a consumer waits for: a connection, or the end of a back-off. A shutdown interrupts it. */
import { after, type Clock } from "@tenure/base";
import type { GrpcClient } from "./server-stream.ts";
import { waitForReady } from "./wait-for-ready.ts";

export class CurrentWait {
  readonly #clock: Clock;
  #end: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects if there is no connection in time, and if it is interrupted. */
  async forConnection(client: GrpcClient, timeoutMs: number): Promise<void> {
    const wait = waitForReady(client, this.#clock, timeoutMs);
    this.#end = () => wait.cancel();
    await wait.done;
  }

  /** Resolves after this time, or when it is interrupted. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = after(this.#clock, ms, resolve);
      this.#end = () => {
        cancel();
        resolve();
      };
    });
  }

  interrupt(): void {
    this.#end();
  }
}
