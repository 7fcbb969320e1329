/**
 * The command line. The work of each command is in modules that its action loads, so a command does not load the code of
 * the others.
 */
import { Command, CommanderError } from "commander";
import { declareDoctor } from "./commands/doctor/declare.ts";
import { declareElect } from "./commands/elect/declare.ts";
import { withDoubleDashes } from "./commands/elect/single-dash.ts";
import { declareManifests } from "./commands/manifests/declare.ts";
import { declareOperate } from "./commands/operate/declare.ts";
import { declarePostgres } from "./commands/postgres/declare.ts";
import { declareProbe } from "./commands/probe/declare.ts";
import { declareRun } from "./commands/run/declare.ts";
import { declareSandbox } from "./commands/sandbox/declare.ts";
import { declareSidecar } from "./commands/sidecar/declare.ts";
import { declareUi } from "./commands/ui/declare.ts";
import { CliError } from "./errors.ts";
import type { Platform } from "./platform.ts";

/**
 * Declares every command with its options and help, without running any. docs/reference is generated from it.
 * @param end receives the exit code of commands that choose their own
 */
export function declareProgram(platform: Platform, end: (exitCode: number) => void = () => {}): Command {
  const program = new Command("tenure")
    .description("Kubernetes leader election: run work on exactly one of your replicas.")
    .configureOutput({ writeOut: platform.out, writeErr: platform.err })
    .showHelpAfterError("(run with --help for usage)")
    // Options after the command of `tenure run` belong to that command.
    .enablePositionalOptions()
    .exitOverride();
  declareRun(program, platform, end);
  declareSidecar(program, platform);
  declareElect(program, platform);
  declareOperate(program, platform, end);
  declareUi(program, platform, end);
  declareDoctor(program, platform, end);
  declareProbe(program, platform, end);
  declareManifests(program, platform);
  declarePostgres(program, platform);
  declareSandbox(program, platform);
  return program;
}

/** Runs the command line of the platform. Resolves with the exit code. */
export async function runCommandLine(platform: Platform): Promise<number> {
  let exitCode = 0;
  // Without a listener, SIGUSR1 opens Node's debugger to everybody on this machine.
  platform.onSignal("SIGUSR1", () => {});
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
