/**
 * @tenure/kube: the small part of a Kubernetes client that an election needs.
 * Modules that are slow to load (HTTP, TLS, YAML, plugins) are imported at their first use, not here.
 */
export { KubeClient, type KubeClientOptions } from "./client.ts";
export { type ClientNodeKubeConfig, fromClientNode } from "./client-node.ts";
export type { ClusterConfig, Credentials, TlsMaterial } from "./config.ts";
export { KubeError, type KubeErrorCode } from "./errors.ts";
export { type LoadConfigOptions, loadConfig } from "./load-config.ts";
export type { KubeRequest, WatchEvent, WatchRequest } from "./request-types.ts";
