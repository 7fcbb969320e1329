import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Access, call, must } from "./api.ts";
import { type Cluster, startCluster } from "./cluster.mjs";
import { findEtcdutl, restoreSnapshot, saveSnapshot } from "./restore.mjs";

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/** A restore starts three servers again, which takes its time on a busy machine. */
const timeout = 180_000;

/** Two kube-apiservers on one etcd, because a restore concerns all of them. */
describe("two kube-apiservers", { timeout }, () => {
  let cluster: Cluster;
  let etcdutl: string;
  let admins: Access[];

  beforeAll(async () => {
    etcdutl = await findEtcdutl();
    cluster = await startCluster({ apiServers: 2 });
    const { caPem, adminToken: token } = cluster;
    admins = cluster.apiServers.map(({ server }) => ({ server, caPem, token }));
  });
  afterAll(() => cluster.stop());

  const [one, two] = [() => admins[0] as Access, () => admins[1] as Access];

  it("share their data, and one serves while the other one is down", async () => {
    const lease = await must(one(), "POST", leases, { metadata: { name: "shared" } });
    expect((await must(two(), "GET", `${leases}/shared`)).metadata).toEqual(lease.metadata);
    await cluster.apiServers[0]?.stop("SIGKILL");
    await must(two(), "GET", `${leases}/shared`);
    await cluster.apiServers[0]?.start();
    await must(one(), "GET", `${leases}/shared`);
  });

  it.each([
    { bumped: true, revisions: "continue above all others" },
    { bumped: false, revisions: "fall, and are given again" },
  ])("show the state of the snapshot after a restore; revisions $revisions", async ({ bumped }) => {
    const [before, after] = [`before-${bumped}`, `after-${bumped}`];
    const file = join(cluster.folder, `snapshot-${bumped}`);
    const kept = await must(one(), "POST", leases, { metadata: { name: before } });
    await saveSnapshot(cluster.etcdServer, file);
    // More writes than those of two servers that start.
    let last = kept;
    for (let count = 0; count < 200; count += 1)
      last = await must(one(), "POST", leases, { metadata: { name: `${after}-${count}` } });

    await cluster.stopApiServer({ signal: "SIGKILL", withEtcd: true });
    await restoreSnapshot({ etcdutl, file, etcdFolder: cluster.etcdFolder, bumped });
    await cluster.startApiServer();

    for (const admin of [one(), two()]) {
      expect((await must(admin, "GET", `${leases}/${before}`)).metadata?.uid).toBe(kept.metadata?.uid);
      expect((await call(admin, "GET", `${leases}/${after}-0`)).status).toBe(404);
    }
    const next = await must(two(), "POST", leases, { metadata: { name: `next-${bumped}` } });
    const revision = (object: typeof next) => BigInt(object.metadata?.resourceVersion ?? "");
    expect(revision(next) > revision(last)).toBe(bumped);
  });
});
