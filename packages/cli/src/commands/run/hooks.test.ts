import { describeProblems, type Problem } from "@tenure/base";
import { expect, it } from "vitest";
import { flagOf } from "../../settings/problems.ts";
import { type HookFlags, hooksFrom } from "./hooks.ts";

function read(flags: HookFlags) {
  const problems: Problem[] = [];
  return { hooks: hooksFrom(flags, problems), problems: describeProblems(problems, flagOf) };
}

it("reads commands for the shell and lists of words, with one time limit for all", () => {
  const flags = {
    preStart: "mount /data",
    postStop: '["umount", "/data"]',
    onRoleChange: "./told",
    hookTimeout: "5s",
  };
  expect(read(flags)).toEqual({
    hooks: {
      preStart: { argv: ["sh", "-c", "mount /data"], timeoutMs: 5_000 },
      postStop: { argv: ["umount", "/data"], timeoutMs: 5_000 },
      roleChange: { argv: ["sh", "-c", "./told"], timeoutMs: 5_000 },
    },
    problems: [],
  });
  expect(read({ preStart: "x" }).hooks).toEqual({ preStart: { argv: ["sh", "-c", "x"] } });
  expect(read({})).toEqual({ hooks: undefined, problems: [] });
});

it.each<[HookFlags, string]>([
  [{ preStart: " " }, "--pre-start must be a command"],
  [
    { postStop: "[1]" },
    '--post-stop must be a command, or a JSON list of words like ["mount", "/data"], but is [1]',
  ],
  [
    { postStop: "[" },
    '--post-stop must be a command, or a JSON list of words like ["mount", "/data"], but is [',
  ],
  [
    { preStart: "x", hookTimeout: "soon" },
    '--hook-timeout must be a duration like "15s" or "500ms", but is "soon"',
  ],
  [{ hookTimeout: "5s" }, "--hook-timeout requires --pre-start, --post-stop or --on-role-change"],
])("rejects %j", (flags, problem) => {
  expect(read(flags).problems).toEqual([problem]);
});
