/**
 * Work behind gates, in the order that keeps clients from a replica that does not work: the work says that it is ready,
 * then the gates open; the work has stopped, then they close, and only then is the lease released. On a loss they close at
 * once, while the work is being stopped, for a successor may come any moment.
 * Not promised: that a gate closes. One that cannot in its time is reported, and the lease is released all the same.
 */
import type { Clock } from "@tenure/base";
import type { Term } from "@tenure/election";
import { messageOf, TrafficError } from "./errors.ts";
import type { Gate, GateTerm } from "./gate.ts";
import { systemClock, warn } from "./platform.ts";

export interface GatesOptions {
  /** What went wrong at closing. @default a warning of the process */
  readonly onError?: (error: Error) => void;
  /** How long one gate may take to close. @default 6_000 */
  readonly closeTimeoutMs?: number;
  /** @default the machine's */
  readonly clock?: Clock;
}

/** Beyond the 5 s after which a gate gives up by itself. */
const defaultCloseTimeoutMs = 6_000;

/** Makes everything known that would keep a gate from opening, all problems at once. */
export async function prepareGates(gates: readonly Gate[]): Promise<void> {
  const results = await Promise.allSettled(gates.map(async (gate) => gate.prepare?.()));
  const problems = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (problems.length === 0) return;
  if (problems.length === 1) throw problems[0];
  throw new TrafficError("CannotOpen", problems.map(messageOf).join("\n"), { cause: problems });
}

/** Opens all at once; if one cannot, all are closed again. */
export async function openGates(
  gates: readonly Gate[],
  term: GateTerm,
  options: GatesOptions = {},
): Promise<void> {
  const results = await Promise.allSettled(gates.map(async (gate) => gate.open(term)));
  const failed = results.find((result) => result.status === "rejected");
  if (!failed) return;
  await closeGates(gates, options);
  throw failed.reason;
}

/** Closes all at once, each in bounded time. Never rejects: what went wrong is told. */
export async function closeGates(gates: readonly Gate[], options: GatesOptions = {}): Promise<void> {
  const { onError = warn, closeTimeoutMs = defaultCloseTimeoutMs, clock = systemClock } = options;
  const closeOne = async (gate: Gate) => {
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      const error = new TrafficError(
        "CannotClose",
        `Cannot wait any longer for ${gate.name} to close: ${closeTimeoutMs} ms have passed.`,
      );
      cancel = clock.at(clock.now().monoMs + closeTimeoutMs, () => reject(error));
    });
    try {
      await Promise.race([gate.close(), late]);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(messageOf(error)));
    } finally {
      cancel();
    }
  };
  await Promise.all(gates.map(closeOne));
}

export interface InTrafficOptions extends GatesOptions {
  readonly election: {
    on(name: "renewed", listener: (event: { readonly term: Term }) => void): () => void;
  };
  readonly gates: readonly Gate[];
  /** Calls `ready` when it can be reached; until then the gates stay closed. */
  readonly work: (term: Term, ready: () => Promise<void>) => unknown;
}

/** Work for `election.run`. */
export function inTraffic(options: InTrafficOptions): (term: Term) => Promise<void> {
  const { election, gates, work } = options;
  return async (term) => {
    const close = () => closeGates(gates, options);
    const stopListening = election.on("renewed", (event) => {
      if (event.term === term) for (const gate of gates) gate.renewed?.(term);
    });
    const onLost = () => void close();
    term.lost.addEventListener("abort", onLost, { once: true });
    const ready = async () => {
      if (term.signal.aborted) return;
      await openGates(gates, term, options);
      // Lost meanwhile, and closed before the last one had opened.
      if (term.lost.aborted) await close();
    };
    try {
      await work(term, ready);
    } finally {
      stopListening();
      term.lost.removeEventListener("abort", onLost);
      // After a loss there is no release to wait with, and the hard deadline is for the work, which has stopped.
      await Promise.race([close(), aborted(term.lost)]);
    }
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
