import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApiClient } from "../../client/api.ts";
import { Lookup } from "../container/lookup.ts";
import type { Volume } from "../pod.ts";
import { podWith } from "../testing/pod-player.ts";
import { PodVolumes } from "./pod-volumes.ts";

let folder = "";
let objects: Record<string, object> = {};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-volumes-"));
  objects = {
    "/api/v1/namespaces/default/configmaps/c": {
      data: { a: "1", b: "2" },
      binaryData: { raw: Buffer.of(0, 255).toString("base64") },
    },
    "/api/v1/namespaces/default/secrets/s": { data: { password: Buffer.from("x").toString("base64") } },
  };
});
afterEach(() => rmSync(folder, { recursive: true }));

const context = () => ({
  pod: podWith({}),
  place: { nodeName: "n", podIP: "10.244.0.2", hostIP: "127.0.0.1" },
  // A new one each time, because answers are kept for a short time.
  lookup: new Lookup(
    {
      request: async ({ path }: { path: string }) => {
        if (!objects[path]) throw new KubeError("NotFound", "no");
        return objects[path];
      },
    } as unknown as ApiClient,
    systemClock,
  ),
  allocatable: {},
  token: async (audience: string | undefined) => `token for ${audience}`,
});
const read = (path: string) => readFileSync(join(folder, path), "utf8");

it("fills volumes from ConfigMaps, Secrets, fields and tokens", async () => {
  const volumes = new PodVolumes(folder, [
    { name: "c", configMap: { name: "c", items: [{ key: "a", path: "dir/a.txt" }] } },
    { name: "s", secret: { secretName: "s" } },
    { name: "d", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
    {
      name: "p",
      projected: {
        sources: [
          { configMap: { name: "c" } },
          { serviceAccountToken: { audience: "vault", path: "token" } },
        ],
      },
    },
  ]);
  await volumes.create(context());
  expect(read("c/dir/a.txt")).toBe("1");
  expect(existsSync(join(folder, "c/b"))).toBe(false);
  expect(read("s/password")).toBe("x");
  expect(read("d/name")).toBe("web");
  expect(read("p/token")).toBe("token for vault");
  expect(readFileSync(join(folder, "p/raw"))).toEqual(Buffer.of(0, 255));
});

it("writes changes, and leaves emptyDir alone", async () => {
  const volumes = new PodVolumes(folder, [
    { name: "c", configMap: { name: "c" } },
    { name: "e", emptyDir: {} },
  ]);
  await volumes.create(context());
  objects["/api/v1/namespaces/default/configmaps/c"] = { data: { a: "new" } };
  await volumes.refresh(context());
  expect(read("c/a")).toBe("new");
  expect(existsSync(join(folder, "c/b"))).toBe(false);
  expect(existsSync(join(folder, "e"))).toBe(true);
});

describe("what cannot be created is named", () => {
  it.each<[Volume, string]>([
    [
      { name: "v", configMap: { name: "none" } },
      'MountVolume.SetUp failed for volume "v" : configmap "none" not found',
    ],
    [
      { name: "v", secret: { secretName: "s", items: [{ key: "k", path: "k" }] } },
      'secret "s" has no key "k"',
    ],
    [{ name: "v", hostPath: { path: "/no/such/path" } }, "/no/such/path does not exist"],
    [
      { name: "v", persistentVolumeClaim: {} } as Volume,
      "does not support volumes of type persistentVolumeClaim: use emptyDir or hostPath",
    ],
  ])("%j", async (volume, message) => {
    await expect(new PodVolumes(folder, [volume]).create(context())).rejects.toThrow(message);
  });
});
