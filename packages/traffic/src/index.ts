/** @tenure/traffic: routes traffic to the leader only. */
export { TrafficError, type TrafficErrorCode } from "./errors.ts";
export { type FollowConfigMapOptions, followConfigMap } from "./follow/follow-config-map.ts";
export { type FollowFileOptions, followFile } from "./follow/follow-file.ts";
export type { FollowOptions, NamedPod } from "./follow/follower.ts";
export type { Gate, GateTerm } from "./gate.ts";
export { type EndpointSliceOptions, endpointSlice } from "./gates/endpoint-slice.ts";
export type { KubeGateOptions } from "./gates/kube-gate.ts";
export { type LeaderConfigMapOptions, leaderConfigMap } from "./gates/leader-config-map.ts";
export { type PodLabelOptions, podLabel } from "./gates/pod-label.ts";
export { type ReadyFile, type ReadyFileOptions, readyFile, readyUntil } from "./gates/ready-file.ts";
export type { GivenPorts } from "./gates/service-ports.ts";
export { type InTrafficOptions, inTraffic, prepareGates } from "./in-traffic.ts";
export { endpointSliceRules, followConfigMapRules, leaderConfigMapRules, podLabelRules } from "./rbac.ts";
