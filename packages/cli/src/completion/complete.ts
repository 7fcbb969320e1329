/**
 * What the Tab key offers, from the declarations of the commands. Pure, except that names of elections and namespaces are asked
 * for by the caller. The answer has the form that programs on Cobra give, so that kubectl understands it too.
 */
import type { Argument, Command, Option } from "commander";
import { offeredValues } from "../settings/flag-values.ts";

interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** Names that only the cluster knows. */
export type ClusterNames = "elections" | "namespaces";

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** What the shell offers in addition. */
  readonly paths: "none" | "files" | "directories";
  /** Names to ask the cluster for. */
  readonly ask?: ClusterNames;
  /** What stands before the value in the same word: `--namespace=`. */
  readonly prefix: string;
  /** The flags of the connection that were typed, by their long names. */
  readonly connection: Readonly<Record<string, string>>;
}

const connectionFlags = ["--kubeconfig", "--context", "--namespace", "--lease-lock-namespace", "--sandbox"];

/** @param words the words after the name of the program; the last one is not finished, and may be empty */
export function complete(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? "";
  const place = walk(program, words.slice(0, -1));
  const { command, connection } = place;
  const none = { candidates: [], paths: "none", prefix: "", connection } as const;
  if (place.isForeign) return { ...none, paths: "files" };
  if (place.pending) return { ...none, ...valuesOf(place.pending, current) };
  const assignment = /^(--[a-z-]+=)(.*)$/s.exec(current);
  if (assignment) {
    const [, prefix = "", value = ""] = assignment;
    const option = optionNamed(command, prefix.slice(0, -1));
    if (!option || !takesValue(option)) return none;
    const { candidates, ...rest } = valuesOf(option, value);
    return {
      ...none,
      ...rest,
      prefix,
      candidates: candidates.map(({ word, ...more }) => ({ ...more, word: prefix + word })),
    };
  }
  if (current.startsWith("-")) return { ...none, candidates: flagsOf(command, place.given, current) };
  const commands = visibleCommands(command).filter(
    (each) => place.operands === 0 && each.name().startsWith(current),
  );
  if (commands.length > 0)
    return {
      ...none,
      candidates: commands.map((each) => ({ word: each.name(), about: each.description() })),
    };
  return { ...none, ...argumentValues(command, place.operands, current) };
}

interface Place {
  readonly command: Command;
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
  readonly operands: number;
  readonly given: ReadonlySet<Option>;
  /** Whether the words belong to another program: the one that `tenure run` starts. */
  readonly isForeign: boolean;
  readonly connection: Readonly<Record<string, string>>;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let pending: Option | undefined;
  let operands = 0;
  let isForeign = false;
  let given = new Set<Option>();
  const connection: Record<string, string> = {};
  const remember = (option: Option, value: string) => {
    if (connectionFlags.includes(option.long ?? "")) connection[option.long as string] = value;
  };
  for (const word of words) {
    if (pending && !(pending.variadic && word.startsWith("-"))) {
      remember(pending, word);
      if (!pending.variadic) pending = undefined;
      continue;
    }
    pending = undefined;
    if (word === "--" || isForeign) {
      isForeign = true;
    } else if (word.startsWith("-") && word !== "-") {
      const [name = "", value] = word.startsWith("--")
        ? word.split(/=(.*)/s)
        : [word.slice(0, 2), word.slice(2) || undefined];
      const option = optionNamed(command, name);
      if (!option) continue;
      given.add(option);
      if (value !== undefined) remember(option, value);
      else if (takesValue(option)) pending = option;
    } else {
      const next =
        operands === 0
          ? command.commands.find((each) => each.name() === word || each.aliases().includes(word))
          : undefined;
      if (next) {
        command = next;
        given = new Set();
      } else {
        operands += 1;
        isForeign = command.registeredArguments[0]?.variadic === true;
      }
    }
  }
  return { command, pending, operands, given, isForeign, connection };
}

export function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** Flags of the command and of the program, without those that help hides. */
export function visibleOptions(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function optionNamed(command: Command, name: string): Option | undefined {
  return [...command.options, ...visibleOptions(command)].find(
    ({ long, short }) => long === name || short === name,
  );
}

function flagsOf(command: Command, given: ReadonlySet<Option>, current: string): Candidate[] {
  return visibleOptions(command)
    .filter((option) => !given.has(option) || option.variadic)
    .flatMap((option) =>
      [option.long, ...(current === "-" && option.short ? [option.short] : [])].flatMap((word) =>
        word?.startsWith(current) ? [{ word, about: option.description }] : [],
      ),
    );
}

type Values = Pick<Completion, "candidates" | "paths" | "ask">;

function valuesOf(option: Option, current: string): Values {
  const offered = offeredValues(option).map((value) => value.replace(/=TEMPLATE$/, "="));
  const candidates = offered.filter((value) => value.startsWith(current)).map((word) => ({ word }));
  const [, placeholder = ""] = /<([^>]*)>/.exec(option.flags) ?? [];
  if (candidates.length > 0 || offered.length > 0) return { candidates, paths: "none" };
  if (/^(file|path)$/.test(placeholder)) return { candidates, paths: "files" };
  if (/directory$/.test(placeholder)) return { candidates, paths: "directories" };
  if (placeholder === "namespace") return { candidates, paths: "none", ask: "namespaces" };
  if (option.long === "--lease-lock-name") return { candidates, paths: "none", ask: "elections" };
  return { candidates, paths: "none" };
}

function argumentValues(command: Command, operands: number, current: string): Values {
  const argument: Argument | undefined = command.registeredArguments[operands];
  if (argument?.variadic) return { candidates: [], paths: "files" };
  const choices = (argument?.argChoices ?? []).filter((choice) => choice.startsWith(current));
  if (choices.length > 0) return { candidates: choices.map((word) => ({ word })), paths: "none" };
  const isElection = /^name of the election/.test(argument?.description ?? "");
  return { candidates: [], paths: "none", ...(isElection && { ask: "elections" as const }) };
}

/** Cobra's numbers for what the shell offers in addition to the candidates. */
const directives = { none: 4, files: 0, directories: 16 };
/** Cobra's number for a word that does not end here. */
const noSpace = 2;

/** One candidate on each line, with its description after a tab, then the directive. */
export function printCompletion({ candidates, paths }: Completion): string {
  const isOpen = candidates.length > 0 && candidates.every(({ word }) => word.endsWith("="));
  const lines = candidates.map(({ word, about }) =>
    about === undefined ? word : `${word}\t${about.replace(/\s+/g, " ")}`,
  );
  return `${[...lines, `:${directives[paths] + (isOpen ? noSpace : 0)}`].join("\n")}\n`;
}
