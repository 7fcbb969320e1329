/** The connection of one member to the server: slow, lossy or cut, with a watch that may be late, silent or broken. */
import type { SetEvent } from "@tenure/core";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import { goodLink, type LinkState } from "./participant.ts";
import type { SetServer } from "./server.ts";

/** How often a watch that reports nothing is tried again. */
const stuckMs = 300;

export class Link {
  readonly state: LinkState = { ...goodLink };
  readonly #scheduler: Scheduler;
  readonly #server: SetServer;
  readonly #random: Random;
  readonly #deliver: (event: SetEvent) => void;
  #position: number;
  #isClosed = false;
  #isPumping = false;

  constructor(scheduler: Scheduler, server: SetServer, random: Random, deliver: (event: SetEvent) => void) {
    this.#scheduler = scheduler;
    this.#server = server;
    this.#random = random;
    this.#deliver = deliver;
    this.#position = server.changes.length;
    server.onChange.add(this.#schedule);
  }

  /** Performs a request on the server, after a while or never, and delivers its answer, after a while or never. */
  request<T>(perform: () => T, answer: (value: T) => void): void {
    if (this.#isLost()) return;
    this.#scheduler.after(this.#delayMs(), () => {
      // A message that is on its way arrives even if its sender has crashed since.
      const value = perform();
      if (this.#isLost()) return;
      this.#scheduler.after(this.#delayMs(), () => answer(value));
    });
  }

  /** The watch breaks: whatever has not been delivered is never reported. */
  breakWatch(): void {
    this.#deliver({ type: "watch-down" });
    this.#position = this.#server.changes.length;
    this.#deliver({ type: "watch-up" });
    this.#deliver({ type: "gap" });
  }

  close(): void {
    this.#isClosed = true;
    this.#server.onChange.delete(this.#schedule);
  }

  readonly #schedule = (): void => {
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#scheduler.after(this.#delayMs(), () => this.#pump());
  };

  #pump(): void {
    this.#isPumping = false;
    if (this.#isClosed) return;
    const isStuck = this.state.isCut || this.state.isWatchSilent;
    if (isStuck) {
      this.#isPumping = true;
      this.#scheduler.after(stuckMs, () => this.#pump());
      return;
    }
    while (this.#position < this.#server.changes.length) {
      const event = this.#server.changes[this.#position] as SetEvent;
      this.#position += 1;
      this.#deliver(event);
    }
  }

  #isLost(): boolean {
    return this.state.isCut || this.#random.chance(this.state.loss);
  }

  #delayMs(): number {
    return this.#random.between(1, this.state.slowMs);
  }
}
