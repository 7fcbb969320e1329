import { describeProblems, type Problem } from "@tenure/base";
import { expect, it } from "vitest";
import { flagOf } from "../../settings/problems.ts";
import { withCurrentNames } from "./classic-flags.ts";

const handoverDelay = "2s";

it("translates the flags of leader-elector", () => {
  const problems: Problem[] = [];
  const flags = {
    election: "web",
    electionNamespace: "prod",
    http: "0.0.0.0:4040",
    ttl: "10s",
    handoverDelay,
  };
  expect(withCurrentNames(flags, problems)).toMatchObject({
    leaseLockName: "web",
    namespace: "prod",
    status: "0.0.0.0:4040",
    leaseDuration: "10s",
    renewDeadline: "5s",
    retryPeriod: "2.5s",
  });
  expect(problems).toEqual([]);
});

it("keeps the current flags, and listens only within the pod by default", () => {
  const flags = { leaseLockName: "web", ttl: "10s", renewDeadline: "8s", handoverDelay };
  expect(withCurrentNames(flags, [])).toMatchObject({
    leaseLockName: "web",
    renewDeadline: "8s",
    status: "127.0.0.1:4040",
  });
});

it("rejects an old and a current flag that differ", () => {
  const problems: Problem[] = [];
  withCurrentNames({ http: ":1", status: ":2", ttl: "10s", leaseDuration: "10s", handoverDelay }, problems);
  expect(describeProblems(problems, flagOf)).toEqual([
    '--http must equal --status, which means the same (":2"), but is ":1"',
  ]);
});
