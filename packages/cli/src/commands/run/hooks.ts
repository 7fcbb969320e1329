/** The hooks of `tenure run`: commands that run before the child starts, after it has stopped, and when the role changes. */
import { type Problem, readDuration } from "@tenure/base";
import type { Hooks } from "@tenure/supervisor";

export interface HookFlags {
  preStart?: string;
  postStop?: string;
  onRoleChange?: string;
  hookTimeout?: string;
}

const hookOf = { preStart: "preStart", postStop: "postStop", onRoleChange: "roleChange" } as const;
const fields = Object.keys(hookOf) as (keyof typeof hookOf)[];

/** Undefined if no hook is given. */
export function hooksFrom(flags: HookFlags, problems: Problem[]): Hooks | undefined {
  const given = fields.filter((field) => flags[field] !== undefined);
  const timeoutMs =
    flags.hookTimeout === undefined ? undefined : readDuration("hookTimeout", flags.hookTimeout, problems);
  if (given.length === 0) {
    if (flags.hookTimeout !== undefined)
      problems.push({ field: "hookTimeout", rule: "requires {preStart}, {postStop} or {onRoleChange}" });
    return undefined;
  }
  return Object.fromEntries(
    given.map((field) => {
      const argv = readCommand(field, flags[field] ?? "", problems);
      return [hookOf[field], { argv, ...(timeoutMs !== undefined && { timeoutMs }) }];
    }),
  );
}

/** A command for the shell, or a JSON list of words, which runs without a shell. */
function readCommand(field: string, text: string, problems: Problem[]): string[] {
  if (text.trim() === "") problems.push({ field, rule: "must be a command" });
  if (!text.startsWith("[")) return ["sh", "-c", text];
  try {
    const words: unknown = JSON.parse(text);
    if (Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === "string"))
      return words;
  } catch {
    // Reported below, like every other value that is not a list of words.
  }
  problems.push({
    field,
    rule: 'must be a command, or a JSON list of words like ["mount", "/data"]',
    value: text,
  });
  return [];
}
