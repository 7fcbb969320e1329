/** Where errors go: to the listeners of `error`, or, if there are none, to a warning of Node. */
import { asError, type Emitter } from "@tenure/base";
import type { Failure } from "@tenure/core";
import type { ElectionEvents } from "./events.ts";

export class ErrorReports {
  readonly #events: Emitter<ElectionEvents>;
  readonly #warn: (error: Error) => void;
  readonly #warned = new Set<string>();

  constructor(events: Emitter<ElectionEvents>, warn: (error: Error) => void) {
    this.#events = events;
    this.#warn = warn;
  }

  /** The work threw. Every such error is reported. */
  work(thrown: unknown): void {
    const error = asError(thrown);
    if (this.#events.has("error")) this.#events.emit("error", { error });
    else this.#warn(error);
  }

  /** A request failed. Without a listener, the first failure of each kind is reported: an outage must not flood the output. */
  request(error: Error, failure?: Failure): void {
    if (this.#events.has("error")) {
      this.#events.emit("error", failure ? { error, failure } : { error });
      return;
    }
    this.#warnOnce(failure?.kind ?? "other", error);
  }

  /** Something that does not concern who leads. It is reported only once, with or without a listener. */
  once(message: string): void {
    const error = new Error(message);
    if (this.#events.has("error")) this.#events.emit("error", { error });
    else this.#warnOnce(message, error);
  }

  #warnOnce(kind: string, error: Error): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    const hint = 'This warning is not repeated. To get every error: election.on("error", ({ error }) => …)';
    this.#warn(new UnheardError(`${error.message}. ${hint}`.replace("..", "."), { cause: error }));
  }
}

/** The warning shows only this sentence: where in tenure it was created does not help anybody. */
class UnheardError extends Error {
  override readonly name = "TenureWarning";

  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    this.stack = message;
  }
}
