/**
 * The file of --config: YAML with the names of flags as keys. Every key that is not one and every value of the wrong kind is
 * named, with the flag that was probably meant.
 *
 * Values are read as they are written, never as numbers or dates: `id: 007` is the text 007.
 */
import { readFile } from "node:fs/promises";
import type { Command, Option } from "commander";
import { CliError } from "../errors.ts";
import { nearest } from "./problems.ts";
import { flagName, isSwitch, parseBoolean } from "./settings.ts";

/** Larger is not a file of flags. */
const mostBytes = 1024 * 1024;
/** Keys that are not flags, where the command takes arguments: the arguments. */
const argumentsKey = "command";
/** A file cannot name the next one. */
const notInFile = ["config", "help"];

/** The values in the file by option; an argument list is left in the option value `command`. */
export async function readConfigFile(
  file: string,
  command: Command,
  problems: string[],
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
    const hint = meant ? `did you mean "${meant}"?` : `the keys are the names of flags, see --help`;
    problems.push(`${file}: there is no key ${JSON.stringify(key)}: ${hint}`);
  }
  await checkKinds(file, values, options, takesArguments, problems);
  if (takesArguments && Array.isArray(values[argumentsKey])) {
    command.setOptionValueWithSource(argumentsKey, values[argumentsKey], "config");
  }
  return [...options]
    .filter(([name, option]) => name in values && isKind(option, values[name]))
    .map(([name, option]) => [option, readValue(option, values[name])]);
}

async function load(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    const why =
      (cause as NodeJS.ErrnoException).code === "ENOENT" ? "it does not exist" : (cause as Error).message;
    throw new CliError("USAGE", `Cannot read the file of --config, ${file}: ${why}`, { cause });
  }
  if (text.length > mostBytes) throw new CliError("USAGE", `Cannot use ${file}: it is larger than 1 MB`);
  // js-yaml has no word for a file without a document.
  if (text.split("\n").every((line) => /^\s*(#|$)/.test(line))) return {};
  const yaml = await import("js-yaml");
  let value: unknown;
  try {
    value = yaml.load(text, { schema: yaml.FAILSAFE_SCHEMA });
  } catch (cause) {
    throw new CliError("USAGE", `Cannot use ${file} as it is not YAML: ${(cause as Error).message}`, {
      cause,
    });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new CliError("USAGE", `Cannot use ${file}: it must be lines such as \`lease-duration: 15s\``);
}

async function checkKinds(
  file: string,
  values: Record<string, unknown>,
  options: ReadonlyMap<string, Option>,
  takesArguments: boolean,
  problems: string[],
): Promise<void> {
  const v = await import("valibot");
  const text = v.pipe(v.string("must be one value"), v.nonEmpty("must not be empty"));
  const flag = v.pipe(
    v.string("must be true or false"),
    v.check((value) => parseBoolean(value) !== undefined, "must be true or false"),
  );
  const list = v.array(v.string("must be a list of values"), "must be a list of values");
  const kind = (option: Option) => (isSwitch(option) ? flag : option.variadic ? v.union([text, list]) : text);
  const entries = Object.fromEntries([...options].map(([name, option]) => [name, v.optional(kind(option))]));
  const schema: Record<string, import("valibot").GenericSchema> = entries;
  if (takesArguments) schema[argumentsKey] = v.optional(list);
  const { issues = [] } = v.safeParse(v.looseObject(schema), values);
  for (const issue of issues) {
    const key = String(issue.path?.[0]?.key);
    problems.push(`${file}: ${key} ${issue.message}: ${JSON.stringify(values[key])}`);
  }
}

function isKind(option: Option, value: unknown): boolean {
  if (isSwitch(option)) return typeof value === "string" && parseBoolean(value) !== undefined;
  if (option.variadic && Array.isArray(value)) return value.every((item) => typeof item === "string");
  return typeof value === "string" && value !== "";
}

function readValue(option: Option, value: unknown): unknown {
  if (isSwitch(option)) return parseBoolean(value as string) !== option.negate;
  return option.variadic && typeof value === "string" ? [value] : value;
}
