/** `tenure status` and `list` of candidates, shards and semaphores, which have Leases of their own. */
import { formatShardMap } from "@tenure/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, leases, microTime, record, TestCluster } from "./commands.ts";

let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

const lease = (name: string, spec: object, namespace = "default", metadata = {}) =>
  cluster.create(leases(namespace), { metadata: { name, ...metadata }, spec });

describe("tenure status", () => {
  it("lists the candidates, with why each does not lead, and those that are gone", async () => {
    await lease("shown", record("pod-a"));
    const candidate = (identity: string, standing: string, reason: string, ageMs = 2_000) =>
      lease(
        `shown.candidate.${identity}`,
        { holderIdentity: identity, leaseDurationSeconds: 150, renewTime: microTime(ageMs) },
        "default",
        {
          labels: { "tenure.dev/candidate-of": "shown" },
          annotations: { "tenure.dev/standing": standing, "tenure.dev/standing-reason": reason },
        },
      );
    await candidate("pod-a", "leading", "leads");
    await candidate("pod-b", "waiting", "pod-a leads");
    await candidate("pod-c", "failing", "Cannot update leases");
    const { out } = await cluster.tenure("status", "shown");
    expect(out).toMatch(
      /candidate {4}pod-b: pod-a leads \(seen [\d.]+s ago\)\n {2}candidate {4}pod-c: Cannot update leases/,
    );
    expect(out).not.toContain("candidate    pod-a");
    const json = JSON.parse((await cluster.tenure("status", "shown", "-o", "json")).out);
    expect(
      json.candidates.map(({ identity, present }: Record<string, unknown>) => [identity, present]),
    ).toEqual([
      ["pod-a", true],
      ["pod-b", true],
      ["pod-c", true],
    ]);
    const listed = await cluster.tenure("list", "-o", "json");
    const items = JSON.parse(listed.out).items.filter(({ name }: { name: string }) =>
      name.startsWith("shown"),
    );
    expect(items.map(({ name, standbys }: Record<string, unknown>) => [name, standbys])).toEqual([
      ["shown", 2],
    ]);
  });

  it("shows the members of shards, who works on what, and what nobody works on", async () => {
    const acquired = microTime(60_000);
    const made = (await lease("work.shards.pod-a", record("pod-a", { acquireTime: acquired }), "default", {
      labels: { "tenure.dev/shards": "work" },
    })) as { metadata: { uid: string } };
    const member = {
      ...{
        identity: "pod-a",
        lease: "work.shards.pod-a",
        uid: made.metadata.uid,
        acquired,
        leaseSeconds: 15,
      },
      ...{ count: 4, leaving: false, shards: [0, 1, 2] },
    };
    const map = formatShardMap({ count: 4, forming: false, waiting: [], members: [member], write: "w" });
    await lease("work.shards", {}, "default", {
      labels: { "tenure.dev/shards": "work" },
      annotations: { "tenure.dev/map": map },
    });
    const { code, out } = await cluster.tenure("status", "work");
    expect(out).toMatch(
      /^default\/work \(4 shards\)\n {2}pod-a {4}3: 0-2 \(renewed [\d.]+s ago\)\n {2}nobody {3}1: 3\n$/,
    );
    expect(code).toBe(1);
    const listed = JSON.parse((await cluster.tenure("list", "-o", "json")).out);
    expect(listed.items.filter(({ name }: { name: string }) => name.startsWith("work"))).toEqual([]);
  });

  it("counts a candidate whose Lease has expired as gone", async () => {
    await lease("left", record("pod-a"));
    await lease(
      "left.candidate.pod-b",
      { holderIdentity: "pod-b", leaseDurationSeconds: 1, renewTime: microTime(0) },
      "default",
      { labels: { "tenure.dev/candidate-of": "left" } },
    );
    await expect
      .poll(async () => (await cluster.tenure("status", "left")).out)
      .toMatch(/candidate {4}pod-b: gone, last seen [\d.]+s ago/);
  });
});
