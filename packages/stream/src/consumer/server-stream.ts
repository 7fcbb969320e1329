/** The little of grpc-js that this package needs to see, so that any client fits, and a test can stand in for one. */
import type { ChannelOptions } from "@grpc/grpc-js";

/** What a call of a server-streaming method returns: a `ClientReadableStream<Message>` of grpc-js. */
export interface ServerStream<Message> {
  /** A message, or null. Its type is told by `deserialize`: here grpc-js has it as anything. */
  read(size?: number): unknown;
  readonly deserialize?: (bytes: Buffer) => Message;
  pause(): unknown;
  resume(): unknown;
  cancel(): void;
  /** "data", "end", "close", "error" and "status" are listened to. */
  on(event: string, listener: (...values: never[]) => void): unknown;
}

export interface Channel {
  getConnectivityState(tryToConnect: boolean): number;
  watchConnectivityState(current: number, deadline: Date | number, callback: (error?: Error) => void): void;
}

/** Any client of grpc-js: generated, or made by `loadPackageDefinition`. */
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
