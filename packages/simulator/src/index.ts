export { drawPlan, type Fault, type FaultKind, faultKinds, type Plan } from "./plan.ts";
export type { Violation } from "./witness.ts";
export { type Outcome, play } from "./world.ts";
