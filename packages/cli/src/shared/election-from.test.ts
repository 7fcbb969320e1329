import { KubeClient } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import { fakePlatform } from "../testing/fake-platform.ts";
import { electionFrom, electionProblems, lockFrom } from "./election-from.ts";

const platform = (env: Record<string, string> = {}) => fakePlatform("", { home: "/", env });
const noCluster = new KubeClient(async () => {
  throw new Error("nobody asks");
});

describe("what is wrong with the flags of an election", () => {
  it("nothing", () => {
    expect(electionProblems({ leaseLockName: "example", id: "1" }, platform())).toEqual([]);
    expect(electionProblems({ leaseLockName: "example" }, platform({ POD_NAME: "pod-1" }))).toEqual([]);
  });

  it("everything, at once, in the words of the command line", () => {
    const problems = electionProblems(
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
      '--preset must be one of standard, fast-failover, low-load: "quick"',
      '--lease-duration must be a duration such as "15s" or "500ms": "10"',
      "--renew-deadline must be greater than 1.2 times --retry-period: 2s <= 1.2 * 2s",
      "--id must not be empty: set POD_NAME by the downward API (fieldRef metadata.name), or pass --id",
      '--lock must be one of lease, configmap, endpoints, configmap+lease, endpoints+lease: "leese"; did you mean lease?',
      "--lease-lock-name must be given: the name of the lock, the same for all replicas",
      `--lease-lock-namespace must be lower case letters, digits, '-' and '.', at most 253 of them: "Big"`,
      '--cooldown must be a duration such as "15s" or "500ms": "soon"',
    ]);
  });

  it("a name that is none", () => {
    expect(electionProblems({ leaseLockName: "My Lock", id: "1" }, platform())).toEqual([
      `--lease-lock-name must be lower case letters, digits, '-' and '.', at most 253 of them: "My Lock"`,
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
    expect(lockFrom(flags, { namespace: "ns" }, noCluster).description).toBe(description);
  });
});

it("the identity is --id, else $POD_NAME", () => {
  const connection = {
    config: { server: "https://127.0.0.1:1", credentials: {} as never },
    client: noCluster,
    namespace: "ns",
  };
  const env = { POD_NAME: "pod-1" };
  expect(electionFrom({ leaseLockName: "n" }, connection, platform(env)).identity).toBe("pod-1");
  expect(electionFrom({ leaseLockName: "n", id: "me" }, connection, platform(env)).identity).toBe("me");
});
