/** The part of grpc-js that this package uses, so that any client fits and a test can replace it. */
import type { ChannelOptions } from "@grpc/grpc-js";

/** The result of calling a server-streaming method: a `ClientReadableStream<Message>` of grpc-js. */
export interface ServerStream<Message> {
  /** A message, or null. grpc-js types it as any; `deserialize` has the real type. */
  read(size?: number): unknown;
  readonly deserialize?: (bytes: Buffer) => Message;
  pause(): unknown;
  resume(): unknown;
  cancel(): void;
  /** The consumer listens to "data", "end", "close", "error" and "status". */
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
