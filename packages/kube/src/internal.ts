/** For the other packages of this repository. Not part of the public API: it changes without notice. */

export { nameProblem } from "./names.ts";
export { type Platform, systemPlatform } from "./platform.ts";
export { formatRule, type RbacRule } from "./rbac.ts";
