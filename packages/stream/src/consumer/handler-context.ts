/** What the handler, `onDeadLetter` and `onDrain` get besides the message. */
import type { Metadata } from "@grpc/grpc-js";
import { StreamError } from "../errors.ts";
import type { DrainCall, HandlerContext } from "../options.ts";
import type { Connection } from "./connection.ts";
import type { GrpcClient } from "./server-stream.ts";

/** The client may be replaced while a handler runs, so it is looked up when it is used. */
export class CurrentContext<Client extends GrpcClient> implements HandlerContext<Client> {
  readonly metadata: Metadata;
  readonly #connection: Connection<Client>;
  readonly #call: { readonly signal: AbortSignal };

  constructor(connection: Connection<Client>, metadata: Metadata, call: { readonly signal: AbortSignal }) {
    this.#connection = connection;
    this.metadata = metadata;
    this.#call = call;
  }

  get client(): Client {
    if (this.#connection.client) return this.#connection.client;
    throw new StreamError("Misused", "There is no client, because the consumer was shut down.");
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** For `onDrain`, which gets plain values. */
  withCursor<Cursor>(cursor: Cursor | undefined): DrainCall<Client, Cursor> {
    const { client, metadata, signal } = this;
    return { client, metadata, signal, cursor };
  }
}
