import { describe, expect, it } from "vitest";
import { coordinatedProblems } from "./coordinated-options.ts";
import type { Lock } from "./lock.ts";

const lock = { coordination: {} } as unknown as Lock;
const fields = (options: object, more: object = {}) =>
  coordinatedProblems({ version: "1.4.0", ...options }, { lock, identity: "pod-a", ...more }).map(
    ({ field }) => field,
  );

describe("coordinatedProblems", () => {
  it("accepts what kube-apiserver accepts", () => {
    expect(fields({})).toEqual([]);
    expect(
      fields({ version: "1.4.0-rc.1+build", emulationVersion: "1.3.0", whenUnavailable: "elect" }),
    ).toEqual([]);
  });

  it.each<[string, object, object, string[]]>([
    ["a version that is none", { version: "v1.4" }, {}, ["coordinated.version"]],
    ["a missing version", { version: undefined }, {}, ["coordinated.version"]],
    ["an emulation version that is none", { emulationVersion: "1" }, {}, ["coordinated.emulationVersion"]],
    ["another action", { whenUnavailable: "wait" }, {}, ["coordinated.whenUnavailable"]],
    ["an unknown option", { versoin: "1.4.0" }, {}, ["versoin"]],
    ["a lock that is no Lease", {}, { lock: {} as Lock }, ["coordinated"]],
    ["an identity that no LeaseCandidate can have", {}, { identity: "pod a" }, ["identity"]],
    ["a priority", {}, { priority: 5 }, ["priority"]],
    ["noFailover", {}, { noFailover: true }, ["noFailover"]],
  ])("rejects %s", (_, options, more, expected) => expect(fields(options, more)).toEqual(expected));
});
