/**
 * @tenure/kube: the small part of a Kubernetes client that an election needs.
 * What costs time to load (HTTP, TLS, YAML, plugins) is imported at its first use, not here.
 */
export {
  KubeClient,
  type KubeClientOptions,
  type KubeRequest,
  type WatchEvent,
  type WatchRequest,
} from "./client.ts";
export { type ClientNodeKubeConfig, fromClientNode } from "./client-node.ts";
export type { ClusterConfig, Credentials, TlsMaterial } from "./config.ts";
export { KubeError, type KubeErrorCode, type KubeErrorFacts } from "./errors.ts";
export { type LoadConfigOptions, loadConfig } from "./load-config.ts";
export { nameProblem } from "./names.ts";
export { type Platform, type RunOptions, type RunResult, systemPlatform } from "./platform.ts";
export { describeNeed, formatRule, type RbacNeed, type RbacRule, rbacRuleFor } from "./rbac.ts";
