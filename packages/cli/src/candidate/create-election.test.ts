import { describeProblems } from "@tenure/base";
import { KubeClient } from "@tenure/kube";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addConnectionOptions } from "../settings/connection-options.ts";
import { readSettings } from "../settings/settings.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { createElection, createLock, electionProblems } from "./create-election.ts";

const platform = (env: Record<string, string> = {}) => fakePlatform("", { home: "/", env });
const noCluster = new KubeClient(async () => {
  throw new Error("this client must not be used");
});

/** The names of the flags, of which the hidden --namespace is not used. */
const command = new Command();
addConnectionOptions(command, "elect");
const { nameOf } = await readSettings(command, platform());

const problemsOf = (...args: Parameters<typeof electionProblems>) =>
  describeProblems(electionProblems(...args), nameOf);

const nameRule =
  "must be 1 to 253 lower case letters, digits, '-' or '.', and begin and end with a letter or a digit";

describe("the problems of the flags of an election", () => {
  it("none", () => {
    expect(electionProblems({ leaseLockName: "example", id: "1" }, platform())).toEqual([]);
    expect(electionProblems({ leaseLockName: "example" }, platform({ POD_NAME: "pod-1" }))).toEqual([]);
  });

  it("are all reported at once", () => {
    const problems = problemsOf(
      {
        lock: "leese",
        preset: "quick",
        leaseDuration: "10",
        renewDeadline: "2s",
        retryPeriod: "2s",
        cooldown: "soon",
        namespace: "Big",
      },
      platform(),
    );
    expect(problems).toEqual([
      '--preset must be one of standard, fast-failover, low-load, but is "quick"',
      '--lease-duration must be a duration like "15s" or "500ms", but is "10"',
      "--renew-deadline must be greater than 1.2 times --retry-period (2.4s), but is 2s",
      "--id must not be empty; set POD_NAME with the downward API (fieldRef metadata.name), or pass --id",
      '--lock must be one of lease, configmap, endpoints, configmap+lease, endpoints+lease, or a URL that begins with postgres://, etcd:// or etcds://, but is "leese"; did you mean lease?',
      "--lease-lock-name must be set: it is the name of the lock, the same for all replicas",
      `--lease-lock-namespace ${nameRule}, but is "Big"`,
      '--cooldown must be a duration like "15s" or "500ms", but is "soon"',
    ]);
  });

  it("an invalid name", () => {
    expect(problemsOf({ leaseLockName: "My Lock", id: "1" }, platform())).toEqual([
      `--lease-lock-name ${nameRule}, but is "My Lock"`,
    ]);
  });
});

describe("the lock", () => {
  it.each([
    [undefined, "lease ns/n"],
    ["lease", "lease ns/n"],
    ["configmap", "configmap ns/n"],
    ["endpoints", "endpoints ns/n"],
    ["configmap+lease", "configmap ns/n and lease ns/n"],
    ["endpoints+lease", "endpoints ns/n and lease ns/n"],
  ])("%s is %s", (lock, description) => {
    const flags = { leaseLockName: "n", ...(lock === undefined ? {} : { lock }) };
    expect(createLock(flags, { namespace: "ns" }, noCluster).description).toBe(description);
  });
});

it("the identity is --id, else $POD_NAME", () => {
  const lock = createLock({ leaseLockName: "n" }, { namespace: "ns" }, noCluster);
  const env = { POD_NAME: "pod-1" };
  expect(createElection({ leaseLockName: "n" }, lock, platform(env)).identity).toBe("pod-1");
  expect(createElection({ leaseLockName: "n", id: "me" }, lock, platform(env)).identity).toBe("me");
});
