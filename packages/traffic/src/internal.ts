/** Names, defaults and the order of gates for the other packages of this repository. Not part of the public API. */
export { GateGroup } from "./gate-group.ts";
export { defaultSliceName } from "./gates/endpoint-slice.ts";
export { isTransient } from "./gates/kube-gate.ts";
export { defaultConfigMapKey } from "./gates/leader-config-map.ts";
export { defaultReadyFile } from "./gates/ready-file.ts";
export { electionLabel, electionLabelValue, podLabelKeys, roleLabel } from "./names.ts";
export { takeOverEachTerm } from "./take-over.ts";
