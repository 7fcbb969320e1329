/** The start of the command. It loads only the code of what was asked for. */
import { exit, ownArguments, print } from "./start/platform.ts";
import { version } from "./version.ts";

async function run(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === "--version" || first === "-V") {
    print(`tenure ${version}\n`);
    return 0;
  }
  // A program will run, so a watchdog will be needed. It starts while the rest is loaded.
  const watchdog =
    first === "run" && args.includes("--")
      ? (await import("@tenure/supervisor/start-watchdog")).startWatchdog()
      : undefined;
  const { systemPlatform } = await import("./platform.ts");
  if (first === "__complete")
    return (await import("./completion/answer.ts")).answerCompletion(systemPlatform);
  // Kubelets start a probe every few seconds on every pod, so most probes do not load the declarations of all commands.
  const probed =
    first === "probe"
      ? await (await import("./commands/probe/fast.ts")).probeFast(systemPlatform)
      : undefined;
  if (probed !== undefined) return probed;
  const { runCommandLine } = await import("./command-line.ts");
  const exitCode = await runCommandLine({ ...systemPlatform, watchdog });
  // A command line with mistakes, for example, has nothing to guard.
  await watchdog?.discard();
  return exitCode;
}

// Not `await`, because the single binary is a CommonJS program. An error ends the process as it does with `await`.
void run(ownArguments).then(exit);
