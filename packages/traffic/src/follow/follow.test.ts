import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readyFile } from "../gates/ready-file.ts";
import { followConfigMapRules } from "../rbac.ts";
import { type Cluster, configMaps, startCluster } from "../testing/cluster.ts";
import { followConfigMap } from "./follow-config-map.ts";
import { followFile } from "./follow-file.ts";

let folder: string;
let ready: string;
let controller: AbortController;
const changes: string[] = [];
const errors: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-follow-"));
  ready = join(folder, "ready");
  controller = new AbortController();
  changes.length = 0;
  errors.length = 0;
});
afterEach(async () => {
  controller.abort();
  await rm(folder, { recursive: true, force: true });
});

/** Reads again and again, and looks each time. */
const later = <T>(clock: VirtualClock, look: () => T) =>
  expect.poll(async () => {
    await clock.pass(1_000);
    return look();
  });

const options = () => ({
  pod: "a",
  readyFile: readyFile({ path: ready }),
  signal: controller.signal,
  onChange: ({ leader, isNamed }: { leader: string | undefined; isNamed: boolean }) =>
    void changes.push(`${leader}${isNamed ? " me" : ""}`),
  onError: (error: Error) => void errors.push(error.message),
});

describe("a file", () => {
  it("is ready while it names this pod, also when it is replaced as a mounted ConfigMap is", async () => {
    const clock = new VirtualClock();
    // As the kubelet does it: ..data is a link that is moved, leader is a link into it.
    const put = async (version: string, text: string) => {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, "leader"), text);
      await symlink(version, join(folder, "..new"));
      await rename(join(folder, "..new"), join(folder, "..data"));
    };
    await put("..1", "b\n");
    await symlink("..data/leader", join(folder, "leader"));
    const following = followFile({ ...options(), path: join(folder, "leader"), clock });
    await expect.poll(() => changes).toEqual(["b"]);
    expect(existsSync(ready)).toBe(false);
    await put("..2", "a\n");
    await later(clock, () => changes).toEqual(["b", "a me"]);
    expect(existsSync(ready)).toBe(true);
    await put("..3", "");
    await later(clock, () => changes).toEqual(["b", "a me", "undefined"]);
    expect(existsSync(ready)).toBe(false);
    await put("..4", "a");
    await later(clock, () => existsSync(ready)).toBe(true);
    controller.abort();
    await following;
    expect(existsSync(ready)).toBe(false);
    expect(errors).toEqual([]);
  });

  it("that cannot be read names nobody, which is told once", async () => {
    const clock = new VirtualClock();
    const path = join(folder, "leader");
    await writeFile(path, "a");
    const following = followFile({ ...options(), path, clock });
    await expect.poll(() => existsSync(ready)).toBe(true);
    await rm(path);
    await later(clock, () => changes).toEqual(["a me", "undefined"]);
    expect(existsSync(ready)).toBe(false);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`Cannot read who is named from ${path}: ENOENT`);
    controller.abort();
    await following;
  });
});

describe("a ConfigMap", () => {
  let cluster: Cluster;
  const path = configMaps("prod", "leader-config");
  beforeEach(async () => {
    cluster = await startCluster();
  });
  afterEach(() => cluster.close());
  const create = (leader: string) =>
    cluster.client.request({
      method: "POST",
      path: "/api/v1/namespaces/prod/configmaps",
      body: { metadata: { name: "leader-config" }, data: { leader } },
    });

  it("moves the readiness as somebody edits it, with no more rights than it says", async () => {
    const client = await cluster.restricted(followConfigMapRules());
    const following = followConfigMap({ ...options(), client, namespace: "prod" });
    await expect.poll(() => changes).toEqual(["undefined"]);
    await create("a");
    await expect.poll(() => changes.at(-1)).toBe("a me");
    expect(existsSync(ready)).toBe(true);
    await cluster.patch(path, { data: { leader: "b" } });
    await expect.poll(() => changes.at(-1)).toBe("b");
    expect(existsSync(ready)).toBe(false);
    await cluster.patch(path, { data: { leader: "a" } });
    await expect.poll(() => existsSync(ready)).toBe(true);
    await cluster.remove(path);
    await expect.poll(() => changes.at(-1)).toBe("undefined");
    expect(existsSync(ready)).toBe(false);
    controller.abort();
    await following;
    expect(errors).toEqual([]);
  });

  it("keeps to the last name while the API server is away, and learns what changed meanwhile", async () => {
    await create("a");
    const following = followConfigMap({ ...options(), client: cluster.client, namespace: "prod" });
    await expect.poll(() => existsSync(ready)).toBe(true);
    const fault = cluster.sandbox.faults.add({ effect: "cut-watch" });
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    expect(existsSync(ready)).toBe(true);
    await cluster.remove(path);
    cluster.sandbox.compact();
    fault.remove();
    await expect.poll(() => existsSync(ready), { timeout: 15_000 }).toBe(false);
    controller.abort();
    await following;
  });

  it("without the right to watch says which rule is missing", async () => {
    const client = await cluster.restricted([
      { apiGroups: [""], resources: ["configmaps"], resourceNames: ["leader-config"], verbs: ["get"] },
    ]);
    const following = followConfigMap({ ...options(), client, namespace: "prod" });
    await expect.poll(() => errors[0]).toContain('resourceNames: ["leader-config"], verbs: ["watch"]}');
    controller.abort();
    await following;
  });

  it("a name that cannot be one is refused", async () => {
    const bad = followConfigMap({ ...options(), client: cluster.client, namespace: "Prod" });
    await expect(bad).rejects.toMatchObject({ code: "InvalidOptions" });
  });
});
