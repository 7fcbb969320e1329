/**
 * The command line. The work of each command is in modules that its action loads, so a command does not load the code of
 * the others.
 */
import { Command, CommanderError } from "commander";
import { declareCompletion } from "./commands/completion/declare.ts";
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
import { version } from "./version.ts";

type Declare = (program: Command, platform: Platform, end: (exitCode: number) => void) => void;

/** Who declares which commands. */
const declarations: readonly (readonly [readonly string[], Declare])[] = [
  [["run"], declareRun],
  [["sidecar"], declareSidecar],
  [["elect"], declareElect],
  [["status", "list", "ls", "watch", "step-down", "transfer", "pause", "resume"], declareOperate],
  [["ui"], declareUi],
  [["doctor"], declareDoctor],
  [["probe"], declareProbe],
  [["manifests"], declareManifests],
  [["postgres"], declarePostgres],
  [["sandbox"], declareSandbox],
  [["completion"], declareCompletion],
];

/**
 * Declares the commands with their options and help, without running any. Help, completion, manual pages and docs/reference
 * come from it.
 * @param end receives the exit code of commands that choose their own
 * @param first the first word of the command line: if it is a command, the others need not be declared
 */
export function declareProgram(
  platform: Platform,
  end: (exitCode: number) => void = () => {},
  first?: string,
): Command {
  const program = new Command("tenure")
    .description("Kubernetes leader election: run work on exactly one of your replicas.")
    .version(`tenure ${version}`, "-V, --version", "print the version")
    .configureOutput({ writeOut: platform.out, writeErr: platform.err })
    .showHelpAfterError("(run with --help for usage)")
    // Options after the command of `tenure run` belong to that command.
    .enablePositionalOptions()
    .exitOverride();
  const asked = declarations.filter(([names]) => first !== undefined && names.includes(first));
  for (const [, declare] of asked.length > 0 ? asked : declarations) declare(program, platform, end);
  return program;
}

/** Runs the command line of the platform. Resolves with the exit code. */
export async function runCommandLine(platform: Platform): Promise<number> {
  let exitCode = 0;
  // Without a listener, SIGUSR1 opens Node's debugger to everybody on this machine.
  platform.onSignal("SIGUSR1", () => {});
  const end = (code: number) => {
    exitCode = code;
  };
  const program = declareProgram(platform, end, platform.args[0]);
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
