/** Every flag of every command is typed: the parser takes it, and help, completion, manual pages and reference have it. */
import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, type Option } from "commander";
import { describe, expect, it } from "vitest";
import { manPages } from "../../../scripts/man.mjs";
import { leaves, pathOf } from "../../../scripts/reference.mjs";
import { declareProgram, runCommandLine } from "./command-line.ts";
import { complete, takesValue, visibleOptions } from "./completion/complete.ts";
import { offeredValues } from "./settings/flag-values.ts";
import { fakePlatform } from "./testing/fake-platform.ts";

const newProgram = () => declareProgram(fakePlatform("", { home: "/home/user" }));
const program = await newProgram();
const commands = [program, ...leaves(program)];
const cases = commands.flatMap((command) =>
  visibleOptions(command).map((option) => ({
    command,
    option,
    title: `${wordsOf(command)} ${option.flags}`,
  })),
);
const manual = manPages(program, "1.2.3");
const flagsPage = readFileSync(new URL("../../../docs/reference/flags.md", import.meta.url), "utf8");

function wordsOf(command: Command): string {
  return command.parent ? `tenure ${pathOf(command)}` : "tenure";
}

/** Values that some flag of each kind accepts. A flag for which none works is a defect of this list or of the flag. */
const values = ["1", "15s", "text", "10%", "nofile=1024", "json", "yaml"];

async function typeFlag(command: Command, option: Option, name: string): Promise<string> {
  const offered = offeredValues(option).map((value) => value.replace("TEMPLATE", "{.name}"));
  for (const value of takesValue(option) ? [...offered, ...values] : [undefined]) {
    const fresh = await commandLike(command);
    fresh.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    try {
      const { unknown } = fresh.parseOptions(value === undefined ? [name] : [name, value]);
      if (unknown.length > 0) return `unknown: ${unknown}`;
      return fresh.getOptionValueSource(option.attributeName()) === "cli" ? "taken" : "not taken";
    } catch (error) {
      if (
        !(
          error instanceof InvalidArgumentError || (error as { code?: string }).code?.startsWith("commander.")
        )
      )
        throw error;
    }
  }
  return "no value works";
}

/** The same command of a new program, because a program keeps what was typed. */
async function commandLike(command: Command): Promise<Command> {
  const again = await newProgram();
  return [again, ...leaves(again)].find((each) => wordsOf(each) === wordsOf(command)) as Command;
}

describe.each(cases)("$title", ({ command, option }) => {
  const isBuiltIn = option.long === "--help" || option.long === "--version";

  it("can be typed, in its long and its short form", async () => {
    if (isBuiltIn) return;
    for (const name of [option.long, option.short])
      if (name) expect(await typeFlag(command, option, name)).toBe("taken");
  });

  it("is in the help, the completion, the manual page and the reference", () => {
    const name = option.long ?? option.short ?? "";
    expect(command.helpInformation()).toContain(name);
    const typed = command.parent ? pathOf(command).split(" ") : [];
    expect(complete(program, [...typed, name]).candidates.map(({ word }) => word)).toContain(name);
    const file = command.parent ? `tenure-${typed.join("-")}.1` : "tenure.1";
    expect(manual[file]).toContain(`.B ${option.flags.replaceAll("-", "\\-")}\n`);
    const [, section = ""] =
      new RegExp(`\\n## ${wordsOf(command)}\\n([\\s\\S]*?)(\\n## |$)`).exec(flagsPage) ?? [];
    if (!isBuiltIn) expect(section).toContain(name);
  });
});

async function run(words: string) {
  const platform = fakePlatform(words, { home: "/nowhere" });
  const code = await runCommandLine(platform);
  return { code, out: platform.printed, err: platform.complained };
}

it.each([["--version"], ["-V"]])("%s prints the version of the package", async (flag) => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  expect(await run(flag)).toEqual({ code: 0, out: `tenure ${version}\n`, err: "" });
});

it.each([
  ["staus billing", "status"],
  ["list --all-namespace", "--all-namespaces"],
  ["sandbox faults ad", "add"],
  ["run --lease-lock-nam x -- true", "--lease-lock-name"],
  ["list -o jsn", "json"],
])("tenure %s: suggests %s", async (words, meant) => {
  const { code, err } = await run(words);
  expect(code).toBe(2);
  expect(err).toMatch(new RegExp(`did you mean ${meant}\\?`, "i"));
});
