import { existsSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import { followConfigMapRules } from "../rbac.ts";
import { type Cluster, configMaps, startCluster } from "../testing/cluster.ts";
import { FollowLog } from "../testing/follow.ts";
import { followConfigMap } from "./follow-config-map.ts";

const path = configMaps("prod", "leader-config");
let cluster: Cluster;
let log: FollowLog;
beforeEach(async () => {
  [cluster, log] = await Promise.all([startCluster(), FollowLog.create()]);
});
afterEach(async () => {
  await log.close();
  await cluster.close();
});

const create = (leader: string) =>
  cluster.client.request({
    method: "POST",
    path: "/api/v1/namespaces/prod/configmaps",
    body: { metadata: { name: "leader-config" }, data: { leader } },
  });

it("keeps the ready file in step with every edit, with no other rules than followConfigMapRules()", async () => {
  const client = await cluster.restricted(followConfigMapRules());
  const following = followConfigMap({ ...log.options(), client, namespace: "prod" });
  await expect.poll(() => log.changes).toEqual(["undefined"]);
  await create("a");
  await expect.poll(() => log.changes.at(-1)).toBe("a me");
  expect(existsSync(log.ready)).toBe(true);
  await cluster.patch(path, { data: { leader: "b" } });
  await expect.poll(() => log.changes.at(-1)).toBe("b");
  expect(existsSync(log.ready)).toBe(false);
  await cluster.patch(path, { data: { leader: "a" } });
  await expect.poll(() => existsSync(log.ready)).toBe(true);
  await cluster.remove(path);
  await expect.poll(() => log.changes.at(-1)).toBe("undefined");
  expect(existsSync(log.ready)).toBe(false);
  log.controller.abort();
  await following;
  expect(log.errors).toEqual([]);
});

it("keeps the last name while the watch is down, and catches up afterwards", async () => {
  await create("a");
  const following = followConfigMap({ ...log.options(), client: cluster.client, namespace: "prod" });
  await expect.poll(() => existsSync(log.ready)).toBe(true);
  const fault = cluster.sandbox.faults.add({ effect: "cut-watch" });
  await expect.poll(() => log.errors.length).toBeGreaterThan(0);
  expect(existsSync(log.ready)).toBe(true);
  await cluster.remove(path);
  cluster.sandbox.compact();
  fault.remove();
  await expect.poll(() => existsSync(log.ready)).toBe(false);
  log.controller.abort();
  await following;
});

it("names the missing rule if the permission to watch is missing", async () => {
  const client = await cluster.restricted([
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["leader-config"], verbs: ["get"] },
  ]);
  const following = followConfigMap({ ...log.options(), client, namespace: "prod" });
  await expect.poll(() => log.errors[0]).toContain('resourceNames: ["leader-config"], verbs: ["watch"]}');
  log.controller.abort();
  await following;
});

it("rejects an invalid namespace", async () => {
  const bad = followConfigMap({ ...log.options(), client: cluster.client, namespace: "Prod" });
  await expect(bad).rejects.toMatchObject({ code: "InvalidOptions" });
});
