/**
 * The protocol of `kubectl exec` and `kubectl attach` on a WebSocket: the first byte of each message names its channel. At the
 * end the exit code goes to the error channel, as a Status.
 */
import type { Readable, Writable } from "node:stream";
import type { WebSocketConnection } from "./websocket.ts";

export const commandProtocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

export interface CommandStreams {
  readonly stdin: Writable | undefined;
  readonly onResize?: (size: TerminalSize) => void;
  readonly onClose: () => void;
}

export class RemoteCommand {
  readonly #connection: WebSocketConnection;

  constructor(connection: WebSocketConnection) {
    this.#connection = connection;
  }

  start({ stdin, onResize, onClose }: CommandStreams, head: Buffer): void {
    // Tells the client that the stream is open.
    this.write("stdout", Buffer.alloc(0));
    this.#connection.start(
      {
        onClose,
        onMessage: (message) => {
          const [channel = -1] = message;
          const data = message.subarray(1);
          if (channel === channels.stdin) stdin?.write(data);
          else if (channel === channels.close && data[0] === channels.stdin) stdin?.end();
          else if (channel === channels.resize) onResize?.(parseSize(data));
        },
      },
      head,
    );
  }

  /** Sends a piece of output. @param onDrain called later, if the result is false */
  write(channel: "stdout" | "stderr", data: Buffer, onDrain?: () => void): boolean {
    return this.#connection.send(Buffer.concat([Buffer.of(channels[channel]), data]), onDrain);
  }

  /** Sends everything that the stream has. A client that reads slowly slows the program down. */
  forward(channel: "stdout" | "stderr", from: Readable): Promise<void> {
    from.on("data", (data: Buffer) => {
      if (!this.write(channel, data, () => from.resume())) from.pause();
    });
    return new Promise((resolve) => from.once("end", resolve).once("error", resolve).once("close", resolve));
  }

  /** Sends how the program ended, and closes the connection. */
  end(exitCode: number): void {
    this.#finish(exitCode === 0 ? success : exitStatus(exitCode));
  }

  fail(message: string): void {
    this.#finish({ metadata: {}, status: "Failure", reason: "InternalError", message });
  }

  #finish(status: object): void {
    this.#connection.send(Buffer.concat([Buffer.of(channels.error), Buffer.from(JSON.stringify(status))]));
    this.#connection.close();
  }
}

const success = { metadata: {}, status: "Success" };

function exitStatus(exitCode: number): object {
  return {
    metadata: {},
    status: "Failure",
    reason: "NonZeroExitCode",
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

function parseSize(data: Buffer): TerminalSize {
  try {
    const { Width, Height } = JSON.parse(data.toString("utf8")) as { Width?: number; Height?: number };
    return { width: Number(Width ?? 80), height: Number(Height ?? 24) };
  } catch {
    return { width: 80, height: 24 };
  }
}
