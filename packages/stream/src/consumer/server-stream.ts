/** The part of grpc-js that this package uses, so that any client fits and a test can replace it. */
import type { ChannelOptions } from "@grpc/grpc-js";

/**
 * The result of calling a server-streaming method, a `ClientReadableStream<Message>` of grpc-js, or of calling a bidirectional
 * method, a `ClientDuplexStream`.
 */
export interface ServerStream<Message> {
  /** A message, or null. grpc-js types it as any; `deserialize` has the real type. */
  read(size?: number): unknown;
  readonly deserialize?: (bytes: Buffer) => Message;
  pause(): unknown;
  resume(): unknown;
  cancel(): void;
  /** Only of a bidirectional stream. grpc-js queues what it cannot send at once. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of requests is that of the caller's service
  write?(request: any): unknown;
  end?(): unknown;
  /** The consumer listens to "data", "end", "close", "error", "status" and "metadata". */
  on(event: string, listener: (...values: never[]) => void): unknown;
}

interface Channel {
  getConnectivityState(tryToConnect: boolean): number;
  watchConnectivityState(current: number, deadline: Date | number, callback: (error?: Error) => void): void;
}

/** Any client of grpc-js: generated, or from `loadPackageDefinition`. */
export interface GrpcClient {
  close(): void;
  getChannel(): Channel;
  makeUnaryRequest?(
    method: string,
    serialize: () => Buffer,
    deserialize: () => unknown,
    argument: unknown,
    callback: (error: Error | null) => void,
  ): unknown;
}

export type { ChannelOptions };
