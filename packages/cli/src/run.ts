/**
 * The command line. Each command is a module of its own that is loaded when it is asked for, so that none pays for the
 * others.
 */
import { Command, CommanderError } from "commander";
import { declareDoctor } from "./commands/doctor/declare.ts";
import { declareElect } from "./commands/elect/declare.ts";
import { withDoubleDashes } from "./commands/elect/single-dash.ts";
import { declareManifests } from "./commands/manifests/declare.ts";
import { declareOperate } from "./commands/operate/declare.ts";
import { declareProbe } from "./commands/probe/declare.ts";
import { declareRun } from "./commands/run/declare.ts";
import { declareSandbox } from "./commands/sandbox/declare.ts";
import { declareSidecar } from "./commands/sidecar/declare.ts";
import { CliError } from "./errors.ts";
import type { Platform } from "./platform.ts";

/**
 * Every command with its options and help; nothing of it has run. The reference of the docs is written from it.
 * @param end is told the exit code by commands that end with one of their own
 */
export function declareProgram(platform: Platform, end: (exitCode: number) => void = () => {}): Command {
  const program = new Command("tenure")
    .description("Of N replicas exactly one holds office: Kubernetes leader election.")
    .configureOutput({ writeOut: platform.out, writeErr: platform.err })
    .showHelpAfterError("(add --help to see what there is)")
    // What follows the command of `tenure run` is that command's business.
    .enablePositionalOptions()
    .exitOverride();
  declareRun(program, platform, end);
  declareSidecar(program, platform);
  declareElect(program, platform);
  declareOperate(program, platform, end);
  declareDoctor(program, platform, end);
  declareProbe(program, platform, end);
  declareManifests(program, platform);
  declareSandbox(program, platform);
  return program;
}

/** Runs one command line; resolves with the exit code. */
export async function run(platform: Platform): Promise<number> {
  let exitCode = 0;
  const program = declareProgram(platform, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(withDoubleDashes(platform.args), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof CliError) {
      platform.err(`error: ${error.message}\n`);
      return error.exitCode;
    }
    throw error;
  }
}
