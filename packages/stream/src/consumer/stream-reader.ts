/**
 * Reads one stream. It takes a message only when there is room for it, so that HTTP/2 flow control slows down a server that
 * sends faster than the handler works. When the stream breaks, messages that have already arrived are delivered before the end
 * is reported.
 *
 * While there is room the stream flows, which is cheapest. When there is no room it is paused, and buffered messages are read
 * one by one; it flows again when the buffer is empty. Either way a message arrives as a "data" event.
 */
import type { ServerStream } from "./server-stream.ts";

interface Sink<Message> {
  readonly hasRoom: boolean;
  deliver(message: Message): void;
}

interface ReaderEvents {
  /** The server has sent headers. */
  readonly onAccepted: () => void;
  /** A message has arrived. It is not delivered yet. */
  readonly onMessage: () => void;
  /** No message can arrive any more. Those that have arrived may wait for room. */
  readonly onOver: () => void;
}

/** How a stream ended. Without an error, the server ended it with status OK. */
export interface StreamEnd {
  readonly error?: Error;
  /** Whether this side ended the stream. */
  readonly isCancelled?: boolean;
}

export class StreamReader<Message> {
  readonly ended: Promise<StreamEnd>;
  readonly #stream: ServerStream<Message>;
  readonly #sink: Sink<Message>;
  readonly #events: ReaderEvents;
  #resolve: (end: StreamEnd) => void = () => {};
  #mode: "delivering" | "stopped" | "discarding" = "delivering";
  #isPaused = false;
  #isPumping = false;
  #isEnded = false;
  #error: Error | undefined;
  #hasStatus = false;

  constructor(stream: ServerStream<Message>, sink: Sink<Message>, events: ReaderEvents) {
    this.#stream = stream;
    this.#sink = sink;
    this.#events = events;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    stream.on("data", (message: Message) => this.#onMessage(message));
    stream.on("metadata", () => events.onAccepted());
    stream.on("error", (error: Error) => {
      this.#error ??= error;
    });
    // No message arrives after the status. The stream ends when the messages that arrived before it are delivered.
    stream.on("status", () => {
      this.#hasStatus = true;
      events.onOver();
      if (!this.#isDelivering) this.#end();
    });
    stream.on("end", () => this.#end());
    stream.on("close", () => this.#end());
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether no message can arrive any more. Those that have arrived may wait for room. */
  get isOver(): boolean {
    return this.#hasStatus || this.#isEnded;
  }

  /** Delivers as many messages as there is room for. Call it when there is room again. */
  pump(): void {
    // A handler that finishes synchronously calls this recursively.
    if (!this.#isPaused || this.#isPumping || !this.#isDelivering) return;
    this.#isPumping = true;
    try {
      while (this.#isDelivering && this.#sink.hasRoom) {
        if (this.#stream.read() !== null) continue;
        this.#isPaused = false;
        this.#stream.resume();
        return;
      }
    } finally {
      this.#isPumping = false;
    }
  }

  /** Delivers no further message. Flow control stops the server. */
  stop(): void {
    if (!this.#isDelivering) return;
    this.#mode = "stopped";
    this.#pause();
    if (this.#hasStatus) this.#end();
  }

  /** Reads and discards further messages, to get to the end of the stream that the server sends after them. */
  discard(): void {
    this.#mode = "discarding";
    if (this.#hasStatus) this.#end();
    else this.#stream.resume();
  }

  /** Writes to a bidirectional stream. Returns whether that was possible. */
  write(request: unknown): boolean {
    if (this.isOver || !this.#stream.write) return false;
    this.#stream.write(request);
    return true;
  }

  /** Ends this side of a bidirectional stream, so that the server can end its own. Returns whether that was possible. */
  endWriting(): boolean {
    if (this.isOver || !this.#stream.end) return false;
    this.#stream.end();
    return true;
  }

  /** Ends the stream, on this side with the error if there is one. The server sees CANCELLED. No effect after the end. */
  cancel(error?: Error): void {
    if (this.#isEnded) return;
    this.#mode = "discarding";
    this.#error ??= error;
    // Before the call of cancel, which ends the stream with an error of its own.
    this.#end(true);
    this.#stream.cancel();
  }

  get #isDelivering(): boolean {
    return this.#mode === "delivering";
  }

  #onMessage(message: Message): void {
    if (!this.#isDelivering) return;
    this.#events.onMessage();
    this.#sink.deliver(message);
    if (!this.#sink.hasRoom) this.#pause();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#stream.pause();
  }

  #end(isCancelled = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#resolve({ ...(this.#error ? { error: this.#error } : {}), isCancelled });
  }
}
