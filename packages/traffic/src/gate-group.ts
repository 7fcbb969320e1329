/**
 * Opens and closes all gates of a replica in the right order. A gate that fails is reported. A gate that hangs delays the
 * release by a limited time. A gate that is still opening when it is closed is closed again once it is open.
 */
import { type Clock, messageOf, within } from "@tenure/base";
import { TrafficError } from "./errors.ts";
import type { Gate, GateTerm } from "./gate.ts";

export interface GateGroupOptions {
  readonly clock: Clock;
  /** Called with each error of a gate that is open or closes. */
  readonly onError: (error: Error) => void;
  /** How long to wait for a gate to close. The next leader waits for it too. */
  readonly closeTimeoutMs: number;
}

interface GateState {
  readonly gate: Gate;
  /** Whether the last request was to open. */
  shouldBeOpen: boolean;
  /** Settles when all requests so far are done. */
  last: Promise<void>;
}

export class GateGroup {
  readonly #states: readonly GateState[];
  readonly #options: GateGroupOptions;

  constructor(gates: readonly Gate[], options: GateGroupOptions) {
    this.#states = gates.map((gate) => ({ gate, shouldBeOpen: false, last: Promise.resolve() }));
    this.#options = options;
  }

  /**
   * Opens all gates at the same time. Rejects as soon as one of them cannot open: clients do not reach this replica, so its
   * term should end. Resolves when all are open, or were closed meanwhile.
   */
  async open(term: GateTerm): Promise<void> {
    await Promise.all(
      this.#states.map(async (state) => {
        state.shouldBeOpen = true;
        const opening = state.last.then(() => this.#open(state, term));
        state.last = opening.then(
          () => {},
          () => {},
        );
        await opening;
      }),
    );
  }

  async #open(state: GateState, term: GateTerm): Promise<void> {
    // Closed before its turn came.
    if (!state.shouldBeOpen) return;
    try {
      await state.gate.open(term);
    } catch (cause) {
      if (state.shouldBeOpen) throw errorOf("open", state.gate, cause);
    }
    // Closed while it was opening: that close may have come too early to have an effect.
    if (!state.shouldBeOpen) await this.#closeOne(state.gate);
  }

  /** Lets every open gate restore what somebody else changed. */
  renewed(term: GateTerm): void {
    for (const { gate, shouldBeOpen } of this.#states) {
      try {
        if (shouldBeOpen) gate.renewed?.(term);
      } catch (cause) {
        this.#options.onError(errorOf("check", gate, cause));
      }
    }
  }

  /** Closes at once, also gates that are still opening. Never rejects. Resolves when each is closed or out of time. */
  async close(): Promise<void> {
    const { clock, closeTimeoutMs, onError } = this.#options;
    await Promise.all(
      this.#states.map(async (state) => {
        if (state.shouldBeOpen) {
          state.shouldBeOpen = false;
          state.last = Promise.all([state.last, this.#closeOne(state.gate)]).then(() => {});
        }
        if (await within(clock, closeTimeoutMs, state.last)) return;
        onError(
          new TrafficError(
            "CannotClose",
            `The gate ${state.gate.name} did not close within ${closeTimeoutMs} ms.`,
          ),
        );
      }),
    );
  }

  async #closeOne(gate: Gate): Promise<void> {
    try {
      await gate.close();
    } catch (cause) {
      this.#options.onError(errorOf("close", gate, cause));
    }
  }
}

function errorOf(action: "open" | "check" | "close", gate: Gate, cause: unknown): TrafficError {
  const code = action === "close" ? "CannotClose" : "CannotOpen";
  return new TrafficError(code, `Cannot ${action} the gate ${gate.name}: ${messageOf(cause)}`, { cause });
}
