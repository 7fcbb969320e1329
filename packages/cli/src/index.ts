/** The command line as a function, for programs that embed it. */

export { objectsFor } from "./commands/manifests/objects.ts";
export type { ManifestOptions } from "./commands/manifests/options.ts";
export { CliError, type CliErrorCode } from "./errors.ts";
export { type Platform, systemPlatform } from "./platform.ts";
export { run } from "./run.ts";
