import { describe, expect, it } from "vitest";
import type { Candidate } from "../../../elections/candidates.ts";
import { factsWith } from "../../../testing/doctor-facts.ts";
import type { Pod } from "../pods.ts";
import type { Workload } from "../workload.ts";
import { checkCandidates } from "./candidates.ts";

const candidate = (identity: string, facts: Partial<Candidate> = {}): Candidate => ({
  identity,
  isPresent: true,
  standing: "waiting",
  reason: "billing-1 leads",
  seenMs: 1_000,
  ...facts,
});

const pod = (name: string, phase = "Running", metadata = {}): Pod => ({
  metadata: { name, namespace: "prod", labels: { app: "billing" }, ...metadata },
  spec: { containers: [] },
  status: { phase },
});

const workload = (...args: string[]): Workload => ({
  kind: "Deployment",
  metadata: { name: "billing" },
  spec: {
    selector: { matchLabels: { app: "billing" } },
    template: {
      spec: { containers: [{ name: "app", args: ["run", "--lease-lock-name=billing", ...args] }] },
    },
  },
});

function check(candidates: readonly Candidate[] | undefined, pods: readonly Pod[], of = workload()) {
  const reports = checkCandidates(candidates, [of], factsWith({ pods }));
  return reports.map(({ verdict, what }) => `${verdict}: ${what}`);
}

const two = [candidate("billing-1"), candidate("billing-2")];

describe("checkCandidates", () => {
  it("is content if every pod takes part", () =>
    expect(check(two, [pod("billing-1"), pod("billing-2")])).toEqual(["ok: 2 candidates take part"]));

  it("finds the replica that is missing", () =>
    expect(check(two, [pod("billing-1"), pod("billing-2"), pod("billing-3")])).toEqual([
      "finding: pod billing-3 of Deployment billing runs, but does not take part in the election",
    ]));

  it("finds a replica whose Lease has expired", () =>
    expect(
      check(
        [two[0] as Candidate, candidate("billing-2", { isPresent: false })],
        [pod("billing-1"), pod("billing-2")],
      ),
    ).toEqual(["finding: pod billing-2 of Deployment billing runs, but does not take part in the election"]));

  it("finds a candidate that cannot lead, with its own words", () =>
    expect(
      check([...two, candidate("billing-3", { standing: "failing", reason: "403 on update leases" })], []),
    ).toEqual(["finding: billing-3 cannot lead: 403 on update leases (seen 1s ago)"]));

  it("does not expect pods that do not run, or are about to stop", () => {
    const stopping = pod("billing-4", "Running", { deletionTimestamp: "2026-01-01T00:00:00Z" });
    expect(check(two, [pod("billing-1"), pod("billing-2"), pod("billing-3", "Pending"), stopping])).toEqual([
      "ok: 2 candidates take part",
    ]);
  });

  it("knows identities of client-go's kind", () =>
    expect(
      check([candidate("billing-1_7f"), candidate("billing-2_8a")], [pod("billing-1"), pod("billing-2")]),
    ).toEqual(["ok: 2 candidates take part"]));

  it("says nothing where candidates do not show themselves", () => {
    expect(check([], [pod("billing-1")])).toEqual([]);
    expect(check([candidate("x"), candidate("y")], [pod("billing-1")])).toEqual([
      "ok: 2 candidates take part",
    ]);
    expect(check(two, [pod("billing-1"), pod("billing-3")], workload("--no-register"))).toEqual([
      "ok: 2 candidates take part",
    ]);
  });

  it("says that the user may not list them", () =>
    expect(check(undefined, [pod("billing-1")])).toEqual([
      'skipped: you may not list leases in namespace "prod", so the other candidates were not checked',
    ]));

  it("hints that there is no standby", () =>
    expect(check([candidate("billing-1")], [])).toEqual([
      "hint: billing-1 is the only candidate: when it stops, nobody leads",
    ]));
});
