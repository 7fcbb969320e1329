/** Checks a command line of tenure against the declarations, without running it. */
import type { Command } from "commander";
import { declareProgram } from "../../../packages/cli/src/command-line.ts";
import { fakePlatform } from "../../../packages/cli/src/testing/fake-platform.ts";

/** @param words the arguments after `tenure` @returns the problems of the command line */
export async function problemsOf(words: readonly string[]): Promise<string[]> {
  let complaints = "";
  const platform = {
    ...fakePlatform("", { home: "/nowhere" }),
    err: (text: string) => {
      complaints += text;
    },
  };
  let command: Command = await declareProgram(platform);
  let rest = [...words];
  for (;;) {
    const next = command.commands.find(
      (each) => each.name() === rest[0] || each.aliases().includes(rest[0] ?? ""),
    );
    if (!next) break;
    command = next;
    rest = rest.slice(1);
  }
  if (rest.some((word) => word === "--help" || word === "-h")) return [];
  // The command answers it before anything is declared.
  if (words.length === 1 && words[0] === "--version") return [];
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  if (isGroup && rest[0] !== undefined && !rest[0].startsWith("-")) return [`there is no command ${rest[0]}`];
  if (command.parent === null && rest[0] !== undefined) return [`there is no command ${rest[0]}`];
  try {
    const { operands, unknown } = command.parseOptions(rest);
    const left = unknown.filter((word) => word !== "--");
    const args = [...operands, ...(command.registeredArguments.some(({ variadic }) => variadic) ? [] : left)];
    const needed = command.registeredArguments.filter(({ required }) => required).length;
    const most = command.registeredArguments.some(({ variadic }) => variadic)
      ? Number.POSITIVE_INFINITY
      : command.registeredArguments.length;
    return [
      ...unknownFlags(left, rest, command).map((flag) => `${command.name()} has no ${flag}`),
      ...(args.length < needed ? [`${command.name()} needs ${needed} arguments: ${args.length}`] : []),
      ...(args.length > most ? [`${command.name()} takes ${most} arguments: ${args.join(" ")}`] : []),
      ...command.options
        .filter((option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined)
        .map(({ long }) => `${command.name()} needs ${long}`),
    ];
  } catch (error) {
    return [complaints || (error as Error).message];
  }
}

/** Arguments after "--" do not belong to tenure. After an unknown flag commander stops reading, so known flags may be left. */
function unknownFlags(left: readonly string[], all: readonly string[], { options }: Command): string[] {
  const end = all.indexOf("--");
  const own = end < 0 ? all : all.slice(0, end);
  const isKnown = (word: string) =>
    options.some((option) => [option.long, option.short].includes(word.split("=")[0]));
  return left.filter((word) => word.startsWith("-") && own.includes(word) && !isKnown(word));
}
