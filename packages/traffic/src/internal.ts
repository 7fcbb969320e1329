/** Names, defaults and RBAC rules for the other packages of this repository. Not part of the public API. */
export { defaultSliceName } from "./gates/endpoint-slice.ts";
export { defaultConfigMapKey } from "./gates/leader-config-map.ts";
export { defaultReadyFile } from "./gates/ready-file.ts";
export { electionLabel, electionLabelValue, roleLabel } from "./names.ts";
export { endpointSliceRules, leaderConfigMapRules, podLabelRules } from "./rbac.ts";
