/**
 * Where the value of a flag comes from: the command line, else its environment variable (TENURE_ and its name in capitals),
 * else the file of --config, else its default. All problems are returned together.
 *
 * This checks the type of a value (text, boolean, list). What a value means is checked by the code that uses it.
 */
import { type Problem, quote } from "@tenure/base";
import { type Command, Option, type OptionValues } from "commander";
import type { Platform } from "../platform.ts";
import { flagOf, type NameOf } from "./problems.ts";

/** Two flags with the same meaning. The value is stored under the second. */
const synonyms = [["leaseLockNamespace", "namespace"]] as const;

/** The flags for options that have another name in the libraries. */
const flagsOfOptions: Readonly<Record<string, string>> = {
  identity: "id",
  name: "leaseLockName",
  leaseDurationMs: "leaseDuration",
  renewDeadlineMs: "renewDeadline",
  stopTimeoutMs: "stopTimeout",
  killMarginMs: "killMargin",
  podGraceMs: "podGracePeriod",
  childShutdownMs: "childShutdown",
  drainMs: "childDrain",
};

type Source = "cli" | "env" | "config" | "default" | undefined;
const ranks: Readonly<Record<string, number>> = { cli: 3, env: 2, config: 1, default: 0 };

export interface Settings<Flags> {
  readonly flags: Flags;
  readonly problems: Problem[];
  /** The name under which the user gave a setting: a flag, an environment variable, or a key of the file. */
  readonly nameOf: NameOf;
}

export function addConfigOption(command: Command): void {
  command.addOption(
    new Option("--config <file>", "YAML file that sets flags by name, such as `lease-duration: 15s`"),
  );
}

/** The exit codes of commands that take part in an election and have no child. */
export const exitCodesHelp = `Exit codes:
  0  left the election when asked to
  1  could not continue
  2  wrong usage, or no cluster configured
  3  refused: another process has this identity, or (with --fail-when-denied) rights are missing`;

/** The end of the help of every command that reads the environment. */
export const settingsHelp = `Every flag has an environment variable: TENURE_ and the flag's name in capitals. --lease-lock-name is
TENURE_LEASE_LOCK_NAME. A flag overrides its variable, the variable overrides --config, and --config overrides the default.`;

export async function readSettings<Flags extends object = OptionValues>(
  command: Command,
  platform: Platform,
): Promise<Settings<Flags>> {
  const problems: Problem[] = [];
  for (const option of command.options) applyEnvironment(command, option, platform, problems);
  const file = command.getOptionValue("config") as string | undefined;
  if (file !== undefined && command.options.some(({ long }) => long === "--config")) {
    const { readConfigFile } = await import("./config-file.ts");
    for (const [option, value] of await readConfigFile(file, command, problems)) {
      apply(command, option, value, "config");
    }
  }
  // Before the synonyms are merged: afterwards the source of the first would be lost.
  const nameOf = namesOf(command, file);
  for (const [name, primary] of synonyms) merge(command, name, primary, problems);
  return { flags: command.opts() as Flags, problems, nameOf };
}

function namesOf(command: Command, file: string | undefined): NameOf {
  const names = new Map<string, string>();
  for (const option of command.options) {
    const field = option.attributeName();
    const source = command.getOptionValueSource(field);
    if (source === "env") names.set(field, environmentName(option));
    else if (source === "config") names.set(field, `${file}: ${flagName(option)}`);
  }
  for (const [name, primary] of synonyms) {
    const isShown = command.options.some((option) => option.attributeName() === primary && !option.hidden);
    if (command.getOptionValue(primary) !== undefined) continue;
    if (command.getOptionValue(name) !== undefined || !isShown)
      names.set(primary, names.get(name) ?? flagOf(name));
  }
  return (given) => {
    const field = flagsOfOptions[given] ?? given;
    return names.get(field) ?? flagOf(field);
  };
}

/** The name of a flag without its dashes, which is also its key in the file of --config. */
export function flagName({ long, short }: Option): string {
  return (long ?? short ?? "").replace(/^-+/, "");
}

function environmentName(option: Option): string {
  return `TENURE_${flagName(option).replaceAll("-", "_").toUpperCase()}`;
}

/** Whether a flag takes no value. */
export function isSwitch({ required, optional }: Option): boolean {
  return !required && !optional;
}

/** Undefined if the text is neither true nor false, in any of the usual spellings. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  return undefined;
}

function applyEnvironment(command: Command, option: Option, platform: Platform, problems: Problem[]): void {
  const name = environmentName(option);
  // `tenure run` sets this one for its child, as namespace/name. A command that the child starts must not take it for its flag.
  if (name === "TENURE_ELECTION") return;
  const text = platform.env(name);
  // A manifest leaves a variable out by setting it to the empty string.
  if (text === undefined || text === "") return;
  if (!isSwitch(option)) {
    apply(command, option, option.variadic ? text.split(",") : text, "env");
    return;
  }
  const value = parseBoolean(text);
  if (value === undefined) problems.push({ field: name, rule: "must be true or false", value: quote(text) });
  else apply(command, option, option.negate ? !value : value, "env");
}

function apply(command: Command, option: Option, value: unknown, source: "env" | "config"): void {
  const key = option.attributeName();
  if (rank(command.getOptionValueSource(key)) >= rank(source)) return;
  command.setOptionValueWithSource(key, value, source);
}

function rank(source: Source | string): number {
  return source === undefined ? -1 : (ranks[source] ?? 0);
}

/** Stores the value of a synonym under the primary name, unless that has a value of higher rank. */
function merge(command: Command, name: string, primary: string, problems: Problem[]): void {
  const value = command.getOptionValue(name) as string | undefined;
  const source = command.getOptionValueSource(name);
  if (value === undefined) return;
  const other = command.getOptionValue(primary) as string | undefined;
  const otherSource = command.getOptionValueSource(primary);
  if (other !== undefined && other !== value && rank(source) === rank(otherSource))
    problems.push(differentProblem(name, primary, value, other));
  if (rank(source) > rank(otherSource)) command.setOptionValueWithSource(primary, value, source ?? "default");
}

/** The problem that two flags with the same meaning have different values. */
export function differentProblem(field: string, same: string, value: string, other: string): Problem {
  return {
    field,
    rule: `must equal {${same}}, which means the same`,
    limit: quote(other),
    value: quote(value),
  };
}
