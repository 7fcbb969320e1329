/** @tenure/stream: consumes a gRPC server stream, for a worker that loses no message when another replica takes over. */

export { type AccessOptions, channelCredentials } from "./access/credentials.ts";
export type { Fence } from "./access/fence.ts";
export { StreamConsumer } from "./consumer/consumer.ts";
export type { Decision, HandlerFailure } from "./consumer/deliveries.ts";
export type { GrpcClient, ServerStream } from "./consumer/server-stream.ts";
export { StreamError, type StreamErrorCode } from "./errors.ts";
export type { ConsumerEvents, ConsumerPhase, ConsumerStats, ShutdownReport, StreamHealth } from "./events.ts";
export {
  type HealthServer,
  type HealthServerOptions,
  type HealthSource,
  startHealthServer,
} from "./health/server.ts";
export type { BackOffOptions, ConsumerOptions, DrainCall, HandlerContext, OpenCall } from "./options.ts";
export { runWorker, type WorkerOptions } from "./worker/worker.ts";
