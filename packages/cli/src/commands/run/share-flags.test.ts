import { describeProblems } from "@tenure/base";
import { describe, expect, it } from "vitest";
import { flagOf } from "../../settings/problems.ts";
import type { RunFlags } from "./child-flags.ts";
import { shareProblems } from "./share-flags.ts";

const problemsOf = (flags: RunFlags) => describeProblems(shareProblems(flags), flagOf);

describe("--shards and --permits", () => {
  it("are accepted alone", () => {
    expect(problemsOf({ shards: "16", lock: "lease" })).toEqual([]);
    expect(problemsOf({ permits: "2", onExit: "release" })).toEqual([]);
    expect(problemsOf({ status: ":8080" })).toEqual([]);
  });

  it.each<[RunFlags, string]>([
    [{ shards: "0" }, '--shards must be a whole number from 1 to 4096, but is "0"'],
    [{ shards: "many" }, '--shards must be a whole number from 1 to 4096, but is "many"'],
    [{ permits: "5000" }, '--permits must be a whole number from 1 to 4096, but is "5000"'],
    [{ shards: "4", permits: "2" }, "--shards cannot be combined with --permits; leave one of them out"],
    [{ shards: "4", warm: true }, "--shards cannot be combined with --warm; leave one of them out"],
    [
      { permits: "4", readyFile: "/tmp/x" },
      "--permits cannot be combined with --ready-file; leave one of them out",
    ],
    [
      { shards: "4", failover: false },
      "--shards cannot be combined with --no-failover; leave one of them out",
    ],
    [{ shards: "4", onExit: "exit" }, "--on-exit must be restart or release with --shards, but is exit"],
    [{ permits: "4", lock: "configmap" }, '--lock must be lease with --permits, but is "configmap"'],
  ])("%j: %s", (flags, sentence) => {
    expect(problemsOf(flags)).toEqual([sentence]);
  });
});
