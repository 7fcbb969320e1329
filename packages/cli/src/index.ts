/** The command line as functions, for programs that embed it. */

export { runCommandLine } from "./command-line.ts";
export { objectsFor } from "./commands/manifests/objects.ts";
export type { ManifestOptions } from "./commands/manifests/options.ts";
export { CliError, type CliErrorCode } from "./errors.ts";
export { type Platform, systemPlatform } from "./platform.ts";
