/** Events in the order in which they happened; a listener that throws harms neither the consumer nor the others. */
import { EventEmitter } from "node:events";
import { asError } from "./errors.ts";
import { warn } from "./platform.ts";

export class Emitter<Events extends Record<keyof Events, unknown>> {
  readonly #emitter = new EventEmitter();

  on<Name extends keyof Events & string>(name: Name, listener: (event: Events[Name]) => void): () => void {
    this.#emitter.on(name, listener);
    return () => this.#emitter.off(name, listener);
  }

  emit<Name extends keyof Events & string>(name: Name, event: Events[Name]): void {
    for (const listener of this.#emitter.listeners(name)) {
      try {
        const result: unknown = listener(event);
        if (result instanceof Promise) result.catch((error) => warn(asError(error)));
      } catch (error) {
        warn(asError(error));
      }
    }
  }
}
