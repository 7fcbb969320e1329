/** @tenure/stream: consumes a gRPC server stream, for a worker that must lose no message when it is replaced. */

export { type AccessOptions, channelCredentials, tokenCredentials } from "./access/credentials.ts";
export { type Fence, fenceKeys, fenceMetadata } from "./access/fence.ts";
export type { BackOffOptions } from "./consumer/back-off.ts";
export { type Stats, StreamConsumer } from "./consumer/consumer.ts";
export type { Decision, HandlerFailure } from "./consumer/deliveries.ts";
export type { GrpcClient, ServerStream } from "./consumer/server-stream.ts";
export { StreamError, type StreamErrorCode } from "./errors.ts";
export type { ConsumerEvents, Health, Phase, ShutdownReport } from "./events.ts";
export { type ServingStatus, servingStatus } from "./health/codec.ts";
export {
  type HealthServer,
  type HealthServerOptions,
  type HealthSource,
  healthService,
  startHealthServer,
} from "./health/server.ts";
export type { ConsumerOptions, DrainCall, HandlerContext, OpenCall } from "./options.ts";
export type { Clock } from "./platform.ts";
export { runWorker, type WorkerOptions } from "./worker/worker.ts";
