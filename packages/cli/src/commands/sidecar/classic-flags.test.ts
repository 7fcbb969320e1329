import { describeProblems, type Problem } from "@tenure/base";
import { expect, it } from "vitest";
import { flagOf } from "../../settings/problems.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { withCurrentNames } from "./classic-flags.ts";

const handoverDelay = "2s";
const platform = (env: Record<string, string> = {}) => fakePlatform("", { home: "/", env });

it("translates the flags of leader-elector", () => {
  const problems: Problem[] = [];
  const flags = {
    election: "web",
    electionNamespace: "prod",
    http: "0.0.0.0:4040",
    ttl: "10s",
    handoverDelay,
  };
  expect(withCurrentNames(flags, problems, platform())).toMatchObject({
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
  expect(withCurrentNames(flags, [], platform())).toMatchObject({
    leaseLockName: "web",
    renewDeadline: "8s",
    status: "127.0.0.1:4040",
  });
});

it("rejects an old and a current flag that differ", () => {
  const problems: Problem[] = [];
  withCurrentNames(
    { http: ":1", status: ":2", ttl: "10s", leaseDuration: "10s", handoverDelay },
    problems,
    platform(),
  );
  expect(describeProblems(problems, flagOf)).toEqual([
    '--http must equal --status, which means the same (":2"), but is ":1"',
  ]);
});

it.each([
  ["--id", { election: "web", id: "me" }, { POD_NAME: "pod-1" }, "me"],
  ["$POD_NAME", { election: "web" }, { POD_NAME: "pod-1" }, "pod-1"],
  ["the host name, as for leader-elector", { election: "web" }, {}, "host-1"],
  ["nothing without the flags of leader-elector", { leaseLockName: "web" }, {}, undefined],
])("takes the identity from %s", (_where, flags, env, id) => {
  expect(withCurrentNames({ ...flags, handoverDelay }, [], platform(env as Record<string, string>)).id).toBe(
    id,
  );
});
