/**
 * The command line. The work of each command is in modules that its action loads, so a command does not load the code of
 * the others.
 */
import { Command, CommanderError } from "commander";
import { withDoubleDashes } from "./commands/elect/single-dash.ts";
import { CliError } from "./errors.ts";
import type { Platform } from "./platform.ts";
import { version } from "./version.ts";

type Declare = (program: Command, platform: Platform, end: (exitCode: number) => void) => void;

/** Who declares which commands. Loaded only if asked for: `tenure run` starts with every pod. */
const declarations: readonly (readonly [readonly string[], () => Promise<Declare>])[] = [
  [["run"], async () => (await import("./commands/run/declare.ts")).declareRun],
  [["sidecar"], async () => (await import("./commands/sidecar/declare.ts")).declareSidecar],
  [["elect"], async () => (await import("./commands/elect/declare.ts")).declareElect],
  [
    ["status", "list", "ls", "watch", "step-down", "transfer", "pause", "resume"],
    async () => (await import("./commands/operate/declare.ts")).declareOperate,
  ],
  [["ui"], async () => (await import("./commands/ui/declare.ts")).declareUi],
  [["doctor"], async () => (await import("./commands/doctor/declare.ts")).declareDoctor],
  [["probe"], async () => (await import("./commands/probe/declare.ts")).declareProbe],
  [["manifests"], async () => (await import("./commands/manifests/declare.ts")).declareManifests],
  [["postgres"], async () => (await import("./commands/postgres/declare.ts")).declarePostgres],
  [["sandbox"], async () => (await import("./commands/sandbox/declare.ts")).declareSandbox],
  [["completion"], async () => (await import("./commands/completion/declare.ts")).declareCompletion],
];

/**
 * Declares the commands with their options and help, without running any. Help, completion, manual pages and docs/reference
 * come from it.
 * @param end receives the exit code of commands that choose their own
 * @param first the first word of the command line: if it is a command, the others need not be declared
 */
export async function declareProgram(
  platform: Platform,
  end: (exitCode: number) => void = () => {},
  first?: string,
): Promise<Command> {
  const program = new Command("tenure")
    .description("Kubernetes leader election: run work on exactly one of your replicas.")
    .version(`tenure ${version}`, "-V, --version", "print the version")
    .configureOutput({ writeOut: platform.out, writeErr: platform.err })
    .showHelpAfterError("(run with --help for usage)")
    // Options after the command of `tenure run` belong to that command.
    .enablePositionalOptions()
    .exitOverride();
  const asked = declarations.filter(([names]) => first !== undefined && names.includes(first));
  for (const [, load] of asked.length > 0 ? asked : declarations) (await load())(program, platform, end);
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
  const program = await declareProgram(platform, end, platform.args[0]);
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
