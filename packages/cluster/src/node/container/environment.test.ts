import { systemClock } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import type { ApiClient } from "../../client/api.ts";
import type { EnvVar, NodeContainer } from "../pod.ts";
import { app, podWith } from "../testing/pod-player.ts";
import { ConfigError, environmentOf } from "./environment.ts";
import { Lookup } from "./lookup.ts";

const objects: Record<string, object> = {
  "/api/v1/namespaces/default/configmaps/settings": { data: { color: "blue", size: "9" } },
  "/api/v1/namespaces/default/secrets/keys": { data: { password: Buffer.from("s3cret").toString("base64") } },
};

const client = {
  request: async ({ path }: { path: string }) => {
    const found = objects[path];
    if (!found) throw new KubeError("NotFound", "not found");
    return found;
  },
} as unknown as ApiClient;

function environment(container: Partial<NodeContainer>) {
  const spec = app("app", { ...container, resources: { limits: { memory: "64Mi" } } });
  return environmentOf(spec, {
    pod: { ...podWith({ containers: [spec] }) },
    place: { nodeName: "node-0", podIP: "127.244.0.2", hostIP: "127.0.0.1" },
    lookup: new Lookup(client, systemClock),
    allocatable: { cpu: "2" },
    serviceVariables: { WEB_SERVICE_HOST: "127.96.0.9" },
  });
}

describe("variables", () => {
  it("come from services, envFrom and env, and later ones win and see earlier ones", async () => {
    const env: EnvVar[] = [
      { name: "color", value: "red" },
      { name: "URL", value: "http://$(WEB_SERVICE_HOST)/$(color)/$(LATER)" },
      { name: "LATER", value: "x" },
    ];
    const envFrom = [{ prefix: "P_", secretRef: { name: "keys" } }, { configMapRef: { name: "settings" } }];
    expect(await environment({ env, envFrom })).toEqual({
      WEB_SERVICE_HOST: "127.96.0.9",
      P_password: "s3cret",
      color: "red",
      size: "9",
      URL: "http://127.96.0.9/red/$(LATER)",
      LATER: "x",
    });
  });

  it.each([
    ["metadata.name", "web"],
    ["metadata.namespace", "default"],
    ["spec.nodeName", "node-0"],
    ["status.podIP", "127.244.0.2"],
    ["metadata.labels['missing']", ""],
  ])("can be the field %s", async (fieldPath, value) => {
    const env = [{ name: "X", valueFrom: { fieldRef: { fieldPath } } }];
    expect((await environment({ env })).X).toBe(value);
  });

  it("can be a resource", async () => {
    const env = [{ name: "X", valueFrom: { resourceFieldRef: { resource: "limits.memory" } } }];
    expect((await environment({ env })).X).toBe(String(64 * 1024 ** 2));
  });

  it("can be a key of a Secret", async () => {
    const env = [{ name: "X", valueFrom: { secretKeyRef: { name: "keys", key: "password" } } }];
    expect((await environment({ env })).X).toBe("s3cret");
  });
});

describe("what is missing", () => {
  it.each([
    [{ configMapKeyRef: { name: "none", key: "a" } }, 'configmap "none" not found'],
    [{ secretKeyRef: { name: "keys", key: "a" } }, "couldn't find key a in Secret default/keys"],
    [{ fieldRef: { fieldPath: "spec.x" } }, 'unsupported fieldPath "spec.x" of variable X'],
  ])("is an error that names it: %j", async (valueFrom, message) => {
    await expect(environment({ env: [{ name: "X", valueFrom }] })).rejects.toEqual(new ConfigError(message));
  });

  it("is left out if it is optional", async () => {
    const env = [{ name: "X", valueFrom: { configMapKeyRef: { name: "none", key: "a", optional: true } } }];
    const envFrom = [{ configMapRef: { name: "none", optional: true } }];
    expect(Object.keys(await environment({ env, envFrom }))).toEqual(["WEB_SERVICE_HOST"]);
  });
});
