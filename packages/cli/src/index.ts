/** The manifests that `tenure manifests` prints, for programs that generate their own. */
export { objectsFor } from "./commands/manifests/objects.ts";
export type { ManifestOptions } from "./commands/manifests/options.ts";
