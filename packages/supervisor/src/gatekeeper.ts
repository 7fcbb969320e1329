/**
 * Opens and closes the gates for traffic in the right order, whatever they do: a gate that fails is reported, one that hangs
 * holds nobody up for long, and one that opens late, after it was closed, is closed again.
 */
import type { Clock } from "@tenure/base";
import { inWords, SupervisorError } from "./errors.ts";
import type { Gate } from "./gate.ts";
import type { TermLike } from "./office.ts";

/** A gate that takes longer is not waited for: a successor must not wait for a label. */
export const closeWithinMs = 5_000;

interface Door {
  readonly gate: Gate;
  /** What was last asked of it. */
  isWanted: boolean;
  /** Settles when all that was asked so far is done. */
  last: Promise<void>;
}

export class Gatekeeper {
  readonly #doors: readonly Door[];
  readonly #clock: Clock;
  readonly #onError: (error: Error) => void;

  constructor(gates: readonly Gate[], clock: Clock, onError: (error: Error) => void) {
    this.#doors = gates.map((gate) => ({ gate, isWanted: false, last: Promise.resolve() }));
    this.#clock = clock;
    this.#onError = onError;
  }

  /**
   * The child works also while a gate is being opened. Resolves if one cannot be, with why: nobody reaches this leader.
   * Otherwise it never settles.
   */
  open(term: TermLike): Promise<string> {
    return new Promise((resolve) => {
      for (const door of this.#doors) {
        door.isWanted = true;
        door.last = door.last.then(async () => {
          // Closed before it was its turn.
          if (!door.isWanted) return;
          const why = await this.#try(door.gate, "open", () => door.gate.open(term));
          // Closed while it was being opened: the close may have come too early to find anything.
          if (!door.isWanted) await this.#try(door.gate, "close", () => door.gate.close());
          else if (why !== undefined) resolve(why);
        });
      }
    });
  }

  renewed(term: TermLike): void {
    for (const { gate, isWanted } of this.#doors) {
      if (isWanted) void this.#try(gate, "re-check", async () => gate.renewed?.(term));
    }
  }

  /** Closes at once, also what is still being opened. Resolves when all are closed, or are not waited for any more. */
  async close(): Promise<void> {
    const closings = this.#doors.map(async (door) => {
      if (!door.isWanted) return door.last;
      door.isWanted = false;
      const closing = this.#try(door.gate, "close", () => door.gate.close());
      door.last = Promise.all([door.last, closing]).then(() => {});
      return door.last;
    });
    await this.#within(Promise.all(closings));
  }

  /** What went wrong, if something did; it is reported. */
  async #try(gate: Gate, what: string, act: () => Promise<void>): Promise<string | undefined> {
    try {
      await act();
      return undefined;
    } catch (cause) {
      const message = `Cannot ${what} the gate ${gate.name}: ${inWords(cause)}`;
      this.#onError(new SupervisorError("GateFailed", message, { cause }));
      return message;
    }
  }

  async #within(closing: Promise<unknown>): Promise<void> {
    let cancel = () => {};
    const tooLate = new Promise<void>((resolve) => {
      cancel = this.#clock.at(this.#clock.now().monoMs + closeWithinMs, () => {
        const message = `A gate was not closed within ${closeWithinMs} ms; it is not waited for any longer.`;
        this.#onError(new SupervisorError("GateFailed", message));
        resolve();
      });
    });
    await Promise.race([closing, tooLate]);
    cancel();
  }
}
