/** `tenure completion SHELL`: prints the script that completes command lines of tenure. */
import { Argument, type Command } from "commander";
import { type Shell, shells } from "../../completion/shells.ts";
import type { Platform } from "../../platform.ts";

export function declareCompletion(program: Command, platform: Platform): void {
  program
    .command("completion")
    .description("Print a script that completes commands, flags and names of elections with the Tab key")
    .addArgument(new Argument("<shell>", "your shell").choices([...shells]))
    .addHelpText(
      "after",
      `
Load it in the shell that you use:
  source <(tenure completion bash)     # bash, for this session
  source <(tenure completion zsh)      # zsh, for this session, after compinit
  tenure completion fish | source      # fish, for this session

For every new shell, write it to the file that your shell reads:
  tenure completion bash > ~/.local/share/bash-completion/completions/tenure
  tenure completion zsh > "\${fpath[1]}/_tenure"
  tenure completion fish > ~/.config/fish/completions/tenure.fish

\`kubectl tenure\` is completed by kubectl 1.26 or later, if kubectl_complete-tenure is in your PATH. npm installs it with tenure.`,
    )
    .action(async (shell: Shell) => {
      const { shellScripts } = await import("../../completion/shell-scripts.ts");
      platform.out(shellScripts[shell]);
    });
}
