/**
 * One stream, read by hand: a message is taken only when there is room for it, so that HTTP/2 flow control holds a server that
 * sends faster than the handler works. What had arrived when the stream broke is still handed out before the end is told.
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
  /** How many messages were taken. */
  taken = 0;
  readonly #stream: ServerStream<Message>;
  readonly #sink: Sink<Message>;
  #resolve: (end: StreamEnd) => void = () => {};
  #mood: "taking" | "holding" | "discarding" = "taking";
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
    stream.on("readable", () => this.pump());
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
    if (this.#isPumping || this.#mood === "holding") return;
    this.#isPumping = true;
    try {
      while (this.#mood === "discarding" || this.#sink.hasRoom) {
        const message = this.#stream.read() as Message | null;
        if (message === null) break;
        if (this.#mood !== "taking") continue;
        this.taken++;
        this.#sink.take(message);
        // The handler, or what it calls, may have said that it is enough.
        if ((this.#mood as string) === "holding") break;
      }
    } finally {
      this.#isPumping = false;
    }
  }

  /** Takes nothing more. The server is held by flow control. */
  hold(): void {
    if (this.#mood === "taking") this.#mood = "holding";
    if (this.#isOver) this.#end();
  }

  /** Reads on and throws away, so that the server's end of the stream is seen behind what it had sent before. */
  discard(): void {
    this.#mood = "discarding";
    if (this.#isOver) this.#end();
    else this.pump();
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

  #end(isCancelled = false): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#resolve({ ...(this.#error ? { error: this.#error } : {}), isCancelled });
  }
}
