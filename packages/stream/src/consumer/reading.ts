/**
 * One stream: a message is taken only when there is room for it, so that HTTP/2 flow control holds a server that sends faster
 * than the handler works. What had arrived when the stream broke is still handed out before the end is told.
 *
 * While there is room the stream flows, which costs least. When there is none it is paused, and what had arrived is read one by
 * one; it flows again when all of that is taken. Either way a message comes as a "data" event.
 */
import type { ServerStream } from "./server-stream.ts";

export interface Sink<Message> {
  readonly hasRoom: boolean;
  take(message: Message): void;
}

/** How a stream ended: without an error the server ended it with status OK. */
export interface StreamEnd {
  readonly error?: Error;
  /** It was this side that ended it. */
  readonly isCancelled?: boolean;
}

export class Reading<Message> {
  readonly ended: Promise<StreamEnd>;
  readonly #stream: ServerStream<Message>;
  readonly #sink: Sink<Message>;
  #resolve: (end: StreamEnd) => void = () => {};
  #mood: "taking" | "holding" | "discarding" = "taking";
  #isPaused = false;
  #isPumping = false;
  #isEnded = false;
  #error: Error | undefined;
  #isOver = false;

  constructor(stream: ServerStream<Message>, sink: Sink<Message>) {
    this.#stream = stream;
    this.#sink = sink;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    stream.on("data", (message: Message) => this.#arrived(message));
    stream.on("error", (error: Error) => {
      this.#error ??= error;
    });
    // Nothing arrives after the status. While messages that came before it wait to be taken, the stream has not ended.
    stream.on("status", () => {
      this.#isOver = true;
      if (this.#mood !== "taking") this.#end();
    });
    stream.on("end", () => this.#end());
    stream.on("close", () => this.#end());
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes what there is room for. To be called when there is room again. */
  pump(): void {
    // A handler that finishes at once calls this from within.
    if (!this.#isPaused || this.#isPumping || !this.#isTaking) return;
    this.#isPumping = true;
    try {
      while (this.#isTaking && this.#sink.hasRoom) {
        if (this.#stream.read() !== null) continue;
        this.#isPaused = false;
        this.#stream.resume();
        return;
      }
    } finally {
      this.#isPumping = false;
    }
  }

  /** Takes nothing more. The server is held by flow control. */
  hold(): void {
    if (this.#mood !== "taking") return;
    this.#mood = "holding";
    this.#pause();
    if (this.#isOver) this.#end();
  }

  /** Reads on and throws away, so that the server's end of the stream is seen behind what it had sent before. */
  discard(): void {
    this.#mood = "discarding";
    if (this.#isOver) this.#end();
    else this.#stream.resume();
  }

  /** The server sees CANCELLED; here the stream ends with the error, if there is one. Does nothing once it has ended. */
  cancel(error?: Error): void {
    if (this.#isEnded) return;
    this.#mood = "discarding";
    this.#error ??= error;
    // Before the cancelling, which ends the stream with an error of its own.
    this.#end(true);
    this.#stream.cancel();
  }

  get #isTaking(): boolean {
    return this.#mood === "taking";
  }

  #arrived(message: Message): void {
    if (!this.#isTaking) return;
    this.#sink.take(message);
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
