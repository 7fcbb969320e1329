import { expect, it } from "vitest";
import { inNewWords } from "./classic-flags.ts";

const handoverDelay = "2s";

it("the flags of leader-elector, in new words", () => {
  const problems: string[] = [];
  const flags = {
    election: "web",
    electionNamespace: "prod",
    http: "0.0.0.0:4040",
    ttl: "10s",
    handoverDelay,
  };
  expect(inNewWords(flags, problems)).toMatchObject({
    leaseLockName: "web",
    namespace: "prod",
    status: "0.0.0.0:4040",
    leaseDuration: "10s",
    renewDeadline: "5s",
    retryPeriod: "2.5s",
  });
  expect(problems).toEqual([]);
});

it("what is said in new words stays, and is served within the pod if nothing else is said", () => {
  const flags = { leaseLockName: "web", ttl: "10s", renewDeadline: "8s", handoverDelay };
  expect(inNewWords(flags, [])).toMatchObject({
    leaseLockName: "web",
    renewDeadline: "8s",
    status: "127.0.0.1:4040",
  });
});

it("both words must say the same", () => {
  const problems: string[] = [];
  inNewWords({ http: ":1", status: ":2", ttl: "10s", leaseDuration: "10s", handoverDelay }, problems);
  expect(problems).toEqual(['--http and --status are the same and must not differ: ":1", ":2"']);
});
