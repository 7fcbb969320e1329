/** The flags --shards and --permits: every replica may work, each on its share. */
import { type Problem, quote } from "@tenure/base";
import { mostShards } from "@tenure/core";
import { exclusive } from "../../settings/problems.ts";
import type { RunFlags } from "./child-flags.ts";

/** These flags are about the one leader of an election. */
const onlyForOneLeader = [
  "once",
  "wait",
  "warm",
  "announce",
  "priority",
  "lockListen",
  "readyFile",
  "label",
  "service",
  "endpointSlice",
  "port",
  "address",
  "leaderConfigmap",
  "status",
  "statusTokenFile",
  "onRoleChange",
] as const satisfies readonly (keyof RunFlags)[];

export function isShared({ shards, permits }: RunFlags): boolean {
  return shards !== undefined || permits !== undefined;
}

export function shareProblems(flags: RunFlags): Problem[] {
  if (!isShared(flags)) return [];
  const field = flags.shards === undefined ? "permits" : "shards";
  const problems: Problem[] =
    flags.permits !== undefined && flags.shards !== undefined ? [exclusive("shards", "permits")] : [];
  const text = flags[field] ?? "";
  if (!/^\d{1,4}$/.test(text) || Number(text) < 1 || Number(text) > mostShards) {
    problems.push({ field, rule: `must be a whole number from 1 to ${mostShards}`, value: quote(text) });
  }
  for (const other of onlyForOneLeader)
    if (flags[other] !== undefined) problems.push(exclusive(field, other));
  if (flags.failover === false)
    problems.push({ field, rule: "cannot be combined with --no-failover", fix: "leave one of them out" });
  if (flags.onExit === "exit") {
    problems.push({ field: "onExit", rule: `must be restart or release with {${field}}`, value: "exit" });
  }
  if (flags.lock !== undefined && flags.lock !== "lease") {
    problems.push({ field: "lock", rule: `must be lease with {${field}}`, value: quote(flags.lock) });
  }
  return problems;
}
