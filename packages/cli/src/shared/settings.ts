/**
 * Where the value of a flag comes from: the flag, else its environment variable (TENURE_ + its name in capitals), else the
 * file of --config, else its default. Every problem is returned, so that a command can say all of them at once.
 *
 * It checks what kind of value it is (text, yes or no, a list), not what it means: that is the business of whoever uses it.
 */
import { type Command, Option, type OptionValues } from "commander";
import type { Platform } from "../platform.ts";

/** Two names of one flag. The second is what its value is found under. */
const synonyms = [["leaseLockNamespace", "namespace"]] as const;

type Source = "cli" | "env" | "config" | "default" | undefined;
const ranks: Readonly<Record<string, number>> = { cli: 3, env: 2, config: 1, default: 0 };

export interface Settings<Flags> {
  readonly flags: Flags;
  readonly problems: string[];
}

export function addConfigOption(command: Command): void {
  command.addOption(
    new Option("--config <file>", "YAML file with any of these flags by name, such as `lease-duration: 15s`"),
  );
}

/** How commands end that take part in an election and have no child. */
export const exitCodesHelp = `Exit codes:
  0  it left when it was asked to
  1  it could not go on
  2  the command line is wrong, or there is no cluster
  3  refused: somebody else has this identity; or no rights, with --fail-when-denied`;

/** What every command says about its flags, for the end of its help. */
export const settingsHelp = `Every flag has an environment variable, TENURE_ and its name in capitals: --lease-lock-name is
TENURE_LEASE_LOCK_NAME. A flag wins over its variable, that over the file of --config, that over the default.`;

export async function settle<Flags extends object = OptionValues>(
  command: Command,
  platform: Platform,
): Promise<Settings<Flags>> {
  const problems: string[] = [];
  for (const option of command.options) applyEnvironment(command, option, platform, problems);
  const file = command.getOptionValue("config") as string | undefined;
  if (file !== undefined && command.options.some(({ long }) => long === "--config")) {
    const { readConfigFile } = await import("./config-file.ts");
    for (const [option, value] of await readConfigFile(file, command, problems)) {
      apply(command, option, value, "config");
    }
  }
  for (const [name, primary] of synonyms) join(command, name, primary, problems);
  return { flags: command.opts() as Flags, problems };
}

/** The name of a flag without its dashes, which is its name in a file as well. */
export function flagName({ long, short }: Option): string {
  return (long ?? short ?? "").replace(/^-+/, "");
}

export function environmentName(option: Option): string {
  return `TENURE_${flagName(option).replaceAll("-", "_").toUpperCase()}`;
}

/** Whether a flag takes no value. */
export function isSwitch({ required, optional }: Option): boolean {
  return !required && !optional;
}

/** "true" and "false" and what people write for them; undefined for anything else. */
export function parseBoolean(text: string): boolean | undefined {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  return undefined;
}

function applyEnvironment(command: Command, option: Option, platform: Platform, problems: string[]): void {
  const name = environmentName(option);
  const text = platform.env(name);
  // A variable that is set to nothing is how a manifest leaves one out.
  if (text === undefined || text === "") return;
  if (!isSwitch(option)) {
    apply(command, option, option.variadic ? text.split(",") : text, "env");
    return;
  }
  const value = parseBoolean(text);
  if (value === undefined) problems.push(`${name} must be true or false: ${JSON.stringify(text)}`);
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

function join(command: Command, name: string, primary: string, problems: string[]): void {
  const [one, other] = [name, primary].map((key) => ({
    key,
    value: command.getOptionValue(key) as string | undefined,
    source: command.getOptionValueSource(key),
  })) as [Found, Found];
  if (one.value === undefined) return;
  if (other.value !== undefined && other.value !== one.value && rank(one.source) === rank(other.source)) {
    const say = ({ key }: Found) =>
      command.options.find((option) => option.attributeName() === key)?.long ?? key;
    problems.push(
      `${say(one)} and ${say(other)} are the same and must not differ: ${JSON.stringify(one.value)}, ${JSON.stringify(other.value)}`,
    );
  }
  if (rank(one.source) > rank(other.source))
    command.setOptionValueWithSource(primary, one.value, one.source ?? "default");
}

interface Found {
  readonly key: string;
  readonly value: string | undefined;
  readonly source: Source | string;
}
