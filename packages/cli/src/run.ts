// The command line. Each command is a module of its own that is loaded when it is asked for, so that none pays for the
// others.

import { Command, CommanderError } from "commander";
import { declareSandbox } from "./commands/sandbox/declare.ts";
import { CliError } from "./errors.ts";
import type { Platform } from "./platform.ts";

/** Runs one command line; resolves with the exit code. */
export async function run(platform: Platform): Promise<number> {
  const program = new Command("tenure")
    .description("Of N replicas exactly one holds office: Kubernetes leader election.")
    .configureOutput({ writeOut: platform.out, writeErr: platform.err })
    .showHelpAfterError("(add --help to see what there is)")
    .exitOverride();
  declareSandbox(program, platform);
  try {
    await program.parseAsync(platform.args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof CliError) {
      platform.err(`error: ${error.message}\n`);
      return error.exitCode;
    }
    throw error;
  }
}
