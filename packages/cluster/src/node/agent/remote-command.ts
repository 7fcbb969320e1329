/** What `kubectl exec` and `kubectl attach` send and get. At the end the exit code goes to the error channel, as a Status. */
import type { Readable, Writable } from "node:stream";
import type { CommandTransport } from "./command-transport.ts";

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

export interface CommandStreams {
  readonly stdin: Writable | undefined;
  readonly onResize?: (size: TerminalSize) => void;
  readonly onClose: () => void;
}

/** A Status of the API. */
interface FinalStatus {
  readonly metadata: object;
  readonly status: "Success" | "Failure";
  readonly reason?: string;
  readonly message?: string;
  readonly details?: object;
}

export class RemoteCommand {
  readonly #transport: CommandTransport;

  constructor(transport: CommandTransport) {
    this.#transport = transport;
  }

  start({ stdin, onResize, onClose }: CommandStreams, head: Buffer): void {
    this.#transport.start(
      {
        onInput: (data) => void stdin?.write(data),
        onInputEnd: () => void stdin?.end(),
        onResize: (data) => onResize?.(parseSize(data)),
        onClose,
      },
      head,
    );
  }

  /** Sends a piece of output. @param onDrain called later, if the result is false */
  write(channel: "stdout" | "stderr", data: Buffer, onDrain?: () => void): boolean {
    return this.#transport.send(channel, data, onDrain);
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

  #finish(status: FinalStatus): void {
    const { isFirstVersion } = this.#transport;
    const text = isFirstVersion ? status.message : JSON.stringify(status);
    if (text !== undefined) this.#transport.send("error", Buffer.from(text));
    this.#transport.close();
  }
}

const success: FinalStatus = { metadata: {}, status: "Success" };

function exitStatus(exitCode: number): FinalStatus {
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
