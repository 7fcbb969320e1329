/**
 * Reads the file of --config: YAML whose keys are names of flags. Every unknown key and every value of the wrong type is a
 * problem, with the flag that was probably meant.
 *
 * Values are read as text, never as numbers or dates: `id: 007` is the text 007.
 */
import { readFile } from "node:fs/promises";
import { messageOf, nearest, type Problem } from "@tenure/base";
import type { Command, Option } from "commander";
import { CliError } from "../errors.ts";
import { flagName, isSwitch, parseBoolean } from "./settings.ts";

const mostBytes = 1024 * 1024;
/** The key for the arguments of a command that takes any number of them. It is not a flag. */
const argumentsKey = "command";
/** A file cannot name another file. */
const notInFile = ["config", "help"];

/** The values in the file by option. The arguments are stored in the option value `command`. */
export async function readConfigFile(
  file: string,
  command: Command,
  problems: Problem[],
): Promise<[Option, unknown][]> {
  const values = await load(file);
  const options = new Map(
    command.options
      .map((option) => [flagName(option), option] as const)
      .filter(([name]) => !notInFile.includes(name)),
  );
  const takesArguments = command.registeredArguments.some(({ variadic }) => variadic);
  const known = [...options.keys(), ...(takesArguments ? [argumentsKey] : [])];
  for (const key of Object.keys(values).filter((name) => !known.includes(name))) {
    const meant = nearest(key.replaceAll("_", "-"), known);
    const fix = meant ? `did you mean ${meant}?` : "see --help for all flags";
    problems.push({ field: `${file}: ${key}`, rule: "is not a flag of this command", fix });
  }
  problems.push(...(await typeProblems(file, values, options, takesArguments)));
  if (takesArguments && Array.isArray(values[argumentsKey])) {
    command.setOptionValueWithSource(argumentsKey, values[argumentsKey], "config");
  }
  return [...options]
    .filter(([name, option]) => name in values && hasRightType(option, values[name]))
    .map(([name, option]) => [option, convert(option, values[name])]);
}

async function load(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : messageOf(cause);
    throw new CliError("Usage", `Cannot read the --config file ${file}: ${why}`, { cause });
  }
  if (text.length > mostBytes) throw new CliError("Usage", `Cannot use ${file}: it is larger than 1 MB`);
  // js-yaml rejects a text without a document.
  if (text.split("\n").every((line) => /^\s*(#|$)/.test(line))) return {};
  const yaml = await import("js-yaml");
  let value: unknown;
  try {
    value = yaml.load(text, { schema: yaml.FAILSAFE_SCHEMA });
  } catch (cause) {
    throw new CliError("Usage", `Cannot use ${file}: it is not YAML: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new CliError("Usage", `Cannot use ${file}: it must contain lines like \`lease-duration: 15s\``);
}

async function typeProblems(
  file: string,
  values: Record<string, unknown>,
  options: ReadonlyMap<string, Option>,
  takesArguments: boolean,
): Promise<Problem[]> {
  const v = await import("valibot");
  const text = v.pipe(v.string("must be a single value"), v.nonEmpty("must not be empty"));
  const flag = v.pipe(
    v.string("must be true or false"),
    v.check((value) => parseBoolean(value) !== undefined, "must be true or false"),
  );
  const list = v.array(v.string("must be a list of values"), "must be a list of values");
  const typeOf = (option: Option) =>
    isSwitch(option) ? flag : option.variadic ? v.union([text, list]) : text;
  const schema: Record<string, import("valibot").GenericSchema> = Object.fromEntries(
    [...options].map(([name, option]) => [name, v.optional(typeOf(option))]),
  );
  if (takesArguments) schema[argumentsKey] = v.optional(list);
  const { issues = [] } = v.safeParse(v.looseObject(schema), values);
  return issues.map((issue) => {
    const key = String(issue.path?.[0]?.key);
    return { field: `${file}: ${key}`, rule: issue.message, value: JSON.stringify(values[key]) };
  });
}

function hasRightType(option: Option, value: unknown): boolean {
  if (isSwitch(option)) return typeof value === "string" && parseBoolean(value) !== undefined;
  if (option.variadic && Array.isArray(value)) return value.every((item) => typeof item === "string");
  return typeof value === "string" && value !== "";
}

function convert(option: Option, value: unknown): unknown {
  if (isSwitch(option)) return parseBoolean(value as string) !== option.negate;
  return option.variadic && typeof value === "string" ? [value] : value;
}
