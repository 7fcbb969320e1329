/** @tenure/status: the status of an election over HTTP, and its metrics. */
export { StatusError, type StatusErrorCode } from "./errors.ts";
export { PrometheusMetrics, type PrometheusOptions } from "./metrics/prometheus.ts";
export { type StatusServer, type StatusServerOptions, startStatusServer } from "./server.ts";
export type { ChildChange, ChildSummary, ReadyMode, StatusSource, SupervisorSource } from "./source.ts";
export type { Status, StatusEvent } from "./status-tracker.ts";
