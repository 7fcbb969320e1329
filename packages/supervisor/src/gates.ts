/**
 * Opens and closes the gates for traffic in the right order. A gate that fails is reported. A gate that hangs delays the
 * release by a limited time. A gate that is still opening when it is closed is closed again once it is open.
 */
import { type Clock, messageOf, within } from "@tenure/base";
import type { SupervisedTerm } from "./election-seam.ts";
import { SupervisorError } from "./errors.ts";

/** A way by which traffic reaches the leader. It opens when the child is ready and closes after the child stopped, before the release. */
export interface SupervisedGate {
  readonly name: string;
  open(term: SupervisedTerm): Promise<void>;
  /** Called at every renewal while the gate is open, to check that it is still open. */
  renewed?(term: SupervisedTerm): void;
  /** Must be idempotent, and must settle. After a loss it is called at once, while the child is being killed. */
  close(): Promise<void>;
}

/** The next leader does not wait longer than this for a gate to close. */
export const closeWithinMs = 5_000;

interface GateState {
  readonly gate: SupervisedGate;
  /** Whether the last request was to open. */
  shouldBeOpen: boolean;
  /** Settles when all requests so far are done. */
  last: Promise<void>;
}

export class Gates {
  readonly #states: readonly GateState[];
  readonly #clock: Clock;
  readonly #onError: (error: Error) => void;

  constructor(gates: readonly SupervisedGate[], clock: Clock, onError: (error: Error) => void) {
    this.#states = gates.map((gate) => ({ gate, shouldBeOpen: false, last: Promise.resolve() }));
    this.#clock = clock;
    this.#onError = onError;
  }

  /**
   * Starts to open all gates; the child works meanwhile. Resolves with the reason if a gate cannot be opened, because no
   * traffic reaches this leader then. Otherwise it never settles.
   */
  open(term: SupervisedTerm): Promise<string> {
    return new Promise((resolve) => {
      for (const state of this.#states) {
        state.shouldBeOpen = true;
        state.last = state.last.then(async () => {
          // Closed before its turn came.
          if (!state.shouldBeOpen) return;
          const why = await this.#try(state.gate, "open", () => state.gate.open(term));
          // Closed while it was opening: that close may have come too early to have an effect.
          if (!state.shouldBeOpen) await this.#try(state.gate, "close", () => state.gate.close());
          else if (why !== undefined) resolve(why);
        });
      }
    });
  }

  renewed(term: SupervisedTerm): void {
    for (const { gate, shouldBeOpen } of this.#states) {
      if (shouldBeOpen) void this.#try(gate, "re-check", async () => gate.renewed?.(term));
    }
  }

  /** Closes at once, also gates that are still opening. Resolves when all are closed, or after `closeWithinMs`. */
  async close(): Promise<void> {
    const closings = this.#states.map(async (state) => {
      if (!state.shouldBeOpen) return state.last;
      state.shouldBeOpen = false;
      const closing = this.#try(state.gate, "close", () => state.gate.close());
      state.last = Promise.all([state.last, closing]).then(() => {});
      return state.last;
    });
    if (await within(this.#clock, closeWithinMs, Promise.all(closings))) return;
    const message = `A gate did not close within ${closeWithinMs} ms; the supervisor does not wait for it any longer.`;
    this.#onError(new SupervisorError("GateFailed", message));
  }

  /** Reports and returns the error message, if the action fails. */
  async #try(gate: SupervisedGate, what: string, act: () => Promise<void>): Promise<string | undefined> {
    try {
      await act();
      return undefined;
    } catch (cause) {
      const message = `Cannot ${what} the gate ${gate.name}: ${messageOf(cause)}`;
      this.#onError(new SupervisorError("GateFailed", message, { cause }));
      return message;
    }
  }
}
