/** @tenure/traffic: only the leader is reached. */
export { TrafficError, type TrafficErrorCode } from "./errors.ts";
export { type FollowConfigMapOptions, followConfigMap } from "./follow/follow-config-map.ts";
export { defaultFollowedFile, type FollowFileOptions, followFile } from "./follow/follow-file.ts";
export type { FollowOptions, Named } from "./follow/named.ts";
export type { Gate, GateTerm } from "./gate.ts";
export { defaultSliceName, type EndpointSliceOptions, endpointSlice } from "./gates/endpoint-slice.ts";
export type { KubeGateOptions } from "./gates/kube-gate.ts";
export {
  defaultConfigMap,
  defaultConfigMapKey,
  type LeaderConfigMapOptions,
  leaderConfigMap,
} from "./gates/leader-config-map.ts";
export { type PodLabelOptions, podLabel } from "./gates/pod-label.ts";
export {
  defaultReadyFile,
  type ReadyFile,
  type ReadyFileOptions,
  readyFile,
  readyUntil,
} from "./gates/ready-file.ts";
export type { GivenPorts } from "./gates/service-ports.ts";
export {
  closeGates,
  type GatesOptions,
  type InTrafficOptions,
  inTraffic,
  openGates,
  prepareGates,
} from "./in-traffic.ts";
export { electionLabel, electionLabelValue, roleLabel, sinceAnnotation, tokenAnnotation } from "./names.ts";
export { endpointSliceRules, followConfigMapRules, leaderConfigMapRules, podLabelRules } from "./rbac.ts";
