/**
 * Runs work behind gates, in the order that keeps clients away from a replica that does not work: the work becomes ready,
 * then the gates open; the work stops, then the gates close, then the lease is released. If the term is lost, the gates
 * close at once, while the work is being stopped, because a successor may start at any moment.
 * Not promised: that a gate closes. A gate that cannot close in time is reported, and the lease is released anyway.
 */
import { type Clock, first, messageOf, onAbort, systemClock, warn } from "@tenure/base";
import type { Term } from "@tenure/election";
import { TrafficError } from "./errors.ts";
import type { Gate } from "./gate.ts";
import { GateGroup } from "./gate-group.ts";
import { takeOverSoon } from "./take-over.ts";

interface GatesOptions {
  /** Called with each error of a gate that is open or closes. @default emits a process warning */
  readonly onError?: (error: Error) => void;
  /** How long one gate may take to close. @default 6_000 */
  readonly closeTimeoutMs?: number;
  /** @default the system clock */
  readonly clock?: Clock;
}

/** Longer than the 5 s after which a gate stops trying by itself. */
const defaultCloseTimeoutMs = 6_000;

/** Prepares all gates. Rejects with the problems of all of them together. */
export async function prepareGates(gates: readonly Gate[]): Promise<void> {
  const results = await Promise.allSettled(gates.map(async (gate) => gate.prepare?.()));
  const problems = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (problems.length === 0) return;
  if (problems.length === 1) throw problems[0];
  throw new TrafficError("CannotOpen", problems.map(messageOf).join("\n"), { cause: problems });
}

export interface InTrafficOptions extends GatesOptions {
  readonly election: {
    on(name: "renewed", listener: (event: { readonly term: Term }) => void): () => void;
  };
  readonly gates: readonly Gate[];
  /** Calls `ready` when it can serve requests. Until then the gates stay closed. */
  readonly work: (term: Term, ready: () => Promise<void>) => unknown;
}

/** Wraps work for `election.run` so that it runs behind gates. */
export function inTraffic(options: InTrafficOptions): (term: Term) => Promise<void> {
  const {
    election,
    work,
    onError = warn,
    closeTimeoutMs = defaultCloseTimeoutMs,
    clock = systemClock,
  } = options;
  const gates = new GateGroup(options.gates, { clock, onError, closeTimeoutMs });
  return async (term) => {
    takeOverSoon(term, { gates: options.gates, clock, onError });
    const stopListening = election.on("renewed", (event) => {
      if (event.term === term) gates.renewed(term);
    });
    const removeOnLost = onAbort(term.lost, () => void gates.close());
    const ready = async () => {
      if (term.signal.aborted) return;
      try {
        await gates.open(term);
      } catch (error) {
        await gates.close();
        throw error;
      }
    };
    try {
      await work(term, ready);
    } finally {
      stopListening();
      removeOnLost();
      // After a loss there is no release to delay. Waiting here could exceed the hard deadline although the work has stopped.
      await first(clock, { closed: gates.close(), lost: term.lost });
    }
  };
}
