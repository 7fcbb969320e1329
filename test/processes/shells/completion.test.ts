/** The Tab key in real shells: bash, zsh and fish load the script of `tenure completion` and offer what tenure answers. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";

const program = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));
let folder: string;
beforeAll(() => {
  checkRunBuild();
  folder = mkdtempSync(join(tmpdir(), "tenure-completion-"));
  writeFileSync(join(folder, "tenure"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(folder, "tenure"), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isInstalled = (shell: string) => spawnSync(shell, ["-c", "exit"]).status === 0;

/** What each shell offers for a command line whose last word is not finished. */
const shells: Readonly<Record<string, (line: string) => string[]>> = {
  bash: (line) => [
    "-c",
    `source <(tenure completion bash); COMP_LINE=${quote(line)}; COMP_POINT=\${#COMP_LINE}
     read -ra COMP_WORDS <<<"$COMP_LINE"; [[ $COMP_LINE == *" " ]] && COMP_WORDS+=(""); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
     compopt() { :; }; _tenure; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Completion of zsh needs a terminal; its own functions are replaced by ones that print what they get.
  zsh: (line) => [
    "-fc",
    `compdef() { :; }; _files() { print FILES; }; _describe() { local -a list; list=("\${(@P)2}"); print -rl -- $list; }
     source <(tenure completion zsh); line=${quote(line)}; words=(\${(z)line}); [[ $line == *" " ]] && words+=("")
     CURRENT=\${#words}; _tenure`,
  ],
  fish: (line) => ["-c", `tenure completion fish | source; complete -C ${quote(line)}`],
};

function quote(text: string): string {
  return `'${text}'`;
}

describe.each(Object.entries(shells))("%s", (shell, commandFor) => {
  const installed = isInstalled(shell);
  if (!installed) console.log(`completion of ${shell} is not tested, because ${shell} is not installed`);

  it.runIf(installed).each([
    ["tenure st", ["status", "step-down"]],
    ["tenure run --lease-l", ["--lease-lock-name", "--lease-lock-namespace"]],
    ["tenure list -o j", ["json", "jsonpath="]],
    ["tenure completion ", ["bash", "zsh", "fish"]],
  ])("%s", (line, expected) => {
    const { stdout, stderr } = spawnSync(shell, commandFor(line), {
      encoding: "utf8",
      env: { ...process.env, PATH: `${folder}:${process.env.PATH}`, HOME: folder },
    });
    // fish prints descriptions after a tab, zsh gets them after a colon.
    const offered = stdout.split("\n").map((each) => each.split(/\t|:/)[0]?.trim());
    expect({ offered: offered.filter(Boolean).sort(), stderr }).toEqual({
      offered: [...expected].sort(),
      stderr: "",
    });
  });
});

it("kubectl_complete-tenure answers in the form that kubectl reads", () => {
  const plugin = fileURLToPath(
    new URL("../../../packages/cli/bin/kubectl_complete-tenure.cjs", import.meta.url),
  );
  const { stdout } = spawnSync(process.execPath, [plugin, "st"], { encoding: "utf8" });
  expect(stdout).toMatch(/^status\t.*\nstep-down\t.*\n:4\n$/);
});
