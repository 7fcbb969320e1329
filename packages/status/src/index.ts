/** @tenure/status: what an election looks like from outside. */
export type { Status, StatusEvent } from "./board.ts";
export { StatusError, type StatusErrorCode } from "./errors.ts";
export { type ListenAddress, parseListenAddress } from "./listen-address.ts";
export { type MetricEntry, metricsCatalogue } from "./metrics/catalogue.ts";
export { PrometheusMetrics, type PrometheusOptions } from "./metrics/prometheus.ts";
export { type StatusServer, type StatusServerOptions, startStatusServer } from "./server.ts";
export { type ChildState, type ReadyMode, readyModes, type StatusSource } from "./source.ts";
