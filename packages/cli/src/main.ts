/** The start of the command. It loads only the code of what was asked for. */
import { exit, ownArguments, print } from "./start/platform.ts";
import { version } from "./version.ts";

async function run([first]: readonly string[]): Promise<number> {
  if (first === "--version" || first === "-V") {
    print(`tenure ${version}\n`);
    return 0;
  }
  const { systemPlatform } = await import("./platform.ts");
  if (first === "__complete")
    return (await import("./completion/answer.ts")).answerCompletion(systemPlatform);
  // Kubelets start a probe every few seconds on every pod, so most probes do not load the declarations of all commands.
  const probed =
    first === "probe"
      ? await (await import("./commands/probe/fast.ts")).probeFast(systemPlatform)
      : undefined;
  return probed ?? (await import("./command-line.ts")).runCommandLine(systemPlatform);
}

// Not `await`, because the single binary is a CommonJS program. An error ends the process as it does with `await`.
void run(ownArguments).then(exit);
