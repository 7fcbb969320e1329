/** `tenure manifests` from the command line, and properties of all its objects. */
import { load, loadAll } from "js-yaml";
import { describe, expect, it, test } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { objectsFor } from "./objects.ts";
import { type ManifestOptions, modes, trafficModes } from "./options.ts";

// biome-ignore lint/suspicious/noExplicitAny: the objects have many shapes, and each test checks what it expects
type Any = any;

const base: ManifestOptions = {
  name: "billing",
  namespace: "prod",
  image: "registry.example/billing:1",
  command: ["node", "worker.js"],
};
const typed = "manifests --name billing --namespace prod --image registry.example/billing:1";

async function tenure(args: string) {
  const platform = fakePlatform(args, { home: "/nowhere" });
  const code = await runCommandLine(platform);
  return { code, out: platform.printed, err: platform.complained };
}

const all = (options: Partial<ManifestOptions> = {}): Any[] => objectsFor({ ...base, ...options });
const one = (kind: string, options: Partial<ManifestOptions> = {}): Any => {
  const found = all(options).filter((object) => object.kind === kind);
  expect(found).toHaveLength(1);
  return found[0];
};
const kinds = (options: Partial<ManifestOptions>) => all(options).map(({ kind }) => kind);

describe("the output", () => {
  test("YAML and JSON are the same objects, in the same order, every time", async () => {
    const yaml = await tenure(`${typed} --traffic label --port 3000 -- node worker.js`);
    const json = await tenure(`${typed} --traffic label --port 3000 -o json -- node worker.js`);
    const objects = all({ traffic: "label", port: 3000 });
    expect(yaml).toMatchObject({ code: 0, err: "" });
    expect(loadAll(yaml.out)).toEqual(objects);
    expect(load(json.out)).toEqual({ apiVersion: "v1", kind: "List", items: objects });
    expect((await tenure(`${typed} --traffic label --port 3000 -- node worker.js`)).out).toBe(yaml.out);
  });

  test("the YAML has comments", async () => {
    const { out } = await tenure(`${typed} --traffic ready-file --port 3000 -- node worker.js`);
    expect(out).toMatch(/^# billing in namespace prod: one of 3 replicas leads\./);
    expect(out).toContain("# No PodDisruptionBudget:");
    expect(out).toMatch(
      / {2}# All pods are replaced at once\. Only the leader is Ready[\s\S]*? {2}strategy:\n {4}type: RollingUpdate/,
    );
    expect(out).toContain("# create cannot be restricted by resourceNames");
  });

  test("--command is the same as the command after --, and both together are rejected", async () => {
    const after = await tenure(`${typed} -- node worker.js`);
    const before = await tenure(`${typed} --command node worker.js`);
    expect(before.out).toBe(after.out);
    const both = await tenure(`${typed} --command node -o yaml -- worker.js`);
    expect(both.code).toBe(2);
    expect(both.err).toContain("leave one of them out");
  });
});

describe("traffic modes", () => {
  test.each([
    ["none", {}, ["ServiceAccount", "Role", "RoleBinding", "Deployment", "PodDisruptionBudget"]],
    [
      "none",
      { port: 80 },
      ["ServiceAccount", "Role", "RoleBinding", "Deployment", "Service", "PodDisruptionBudget"],
    ],
    [
      "label",
      { port: 80 },
      ["ServiceAccount", "Role", "RoleBinding", "Deployment", "Service", "PodDisruptionBudget"],
    ],
    [
      "endpointslice",
      { port: 80 },
      ["ServiceAccount", "Role", "RoleBinding", "Deployment", "Service", "PodDisruptionBudget"],
    ],
    ["ready-file", { port: 80 }, ["ServiceAccount", "Role", "RoleBinding", "Deployment", "Service"]],
    [
      "configmap",
      { port: 80 },
      ["ServiceAccount", "Role", "RoleBinding", "ConfigMap", "Deployment", "Service"],
    ],
  ] as const)("%s %o", (traffic, options, expected) => {
    expect(kinds({ traffic, ...options })).toEqual(expected);
  });

  test("the Service selects the leader by its label, or has no selector", () => {
    expect(one("Service", { traffic: "label", port: 80 }).spec.selector).toEqual({
      "app.kubernetes.io/name": "billing",
      "tenure.dev/role": "leader",
    });
    expect(one("Service", { traffic: "endpointslice", port: 80 }).spec.selector).toBeUndefined();
  });

  test("standbys are Ready, except in the modes where only the leader is Ready", () => {
    const probe = (traffic: ManifestOptions["traffic"]) =>
      one("Deployment", { ...(traffic && { traffic }), port: 80 }).spec.template.spec.containers[0]
        .readinessProbe;
    for (const traffic of ["none", "label", "endpointslice"] as const) {
      expect(probe(traffic).httpGet).toEqual({ path: "/readyz", port: "status" });
    }
    expect(probe("ready-file").exec.command).toEqual(["cat", "/tmp/ready"]);
    expect(probe("configmap").exec.command).toEqual(["cat", "/tmp/ready"]);
  });
});

describe("every combination", () => {
  const combinations = modes.flatMap((mode) =>
    trafficModes.map((traffic) => ({ mode, traffic, port: 3000 })),
  );

  it.each(combinations)("$mode, $traffic: runs without privileges on a read-only file system", (options) => {
    const pod = one("Deployment", options).spec.template.spec;
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(0);
    for (const container of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.volumeMounts).toContainEqual({ name: "tmp", mountPath: "/tmp" });
      const names = container.env.map(({ name }: { name: string }) => name);
      expect(names).toEqual(expect.arrayContaining(["POD_NAME", "NAMESPACE", "POD_IP"]));
    }
  });

  it.each(combinations)("$mode, $traffic: every referenced name exists", (options) => {
    const objects = all(options);
    const names = (kind: string) => objects.filter((o) => o.kind === kind).map((o) => o.metadata.name);
    const pod = one("Deployment", options).spec.template.spec;
    expect(names("ServiceAccount")).toContain(pod.serviceAccountName);
    expect(names("Role")).toContain(one("RoleBinding", options).roleRef.name);
    for (const { configMap } of pod.volumes)
      if (configMap) expect(names("ConfigMap")).toContain(configMap.name);
    const ports = [...pod.containers, ...(pod.initContainers ?? [])]
      .flatMap((c) => c.ports ?? [])
      .map((p) => p.name);
    expect(ports).toEqual(expect.arrayContaining(["app", "status"]));
    expect(new Set(ports).size).toBe(ports.length);
  });

  it.each(combinations)(
    "$mode, $traffic: without candidate Leases, every rule names its object, except to create, and for pods",
    (options) => {
      for (const rule of one("Role", { ...options, register: false }).rules as Any[]) {
        if (rule.resourceNames) expect(rule.resourceNames).toHaveLength(1);
        else if (rule.resources[0] !== "pods") expect(rule.verbs).toEqual(["create"]);
        expect(rule.verbs).not.toContain("*");
        expect(rule.verbs).not.toContain("delete");
      }
    },
  );

  it.each(combinations)("$mode, $traffic: candidate Leases need exactly one more rule", (options) => {
    const without = one("Role", { ...options, register: false }).rules as Any[];
    const rules = one("Role", options).rules as Any[];
    const more = rules.filter(
      (rule) => !without.some((each) => JSON.stringify(each) === JSON.stringify(rule)),
    );
    expect(more).toEqual([
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["list", "patch", "delete"] },
    ]);
    expect(rules).toHaveLength(without.length + 1);
  });
});

describe("stopping", () => {
  test("the grace period leaves time after the stop timeout", async () => {
    expect(one("Deployment").spec.template.spec.terminationGracePeriodSeconds).toBe(30);
    expect(one("Deployment", { stopTimeout: 60 }).spec.template.spec.terminationGracePeriodSeconds).toBe(65);
    expect(one("Deployment", { mode: "sidecar" }).spec.template.spec.terminationGracePeriodSeconds).toBe(35);
    const { code, err } = await tenure(`${typed} --grace-period 27s -- node worker.js`);
    expect(code).toBe(2);
    expect(err).toBe(
      "error: --grace-period must be at least 5s longer than --stop-timeout, to leave traffic and release the lease (25s), but is 27s\n",
    );
  });

  test("a sidecar stops after the application", () => {
    const pod = one("Deployment", { mode: "sidecar" }).spec.template.spec;
    expect(pod.initContainers).toHaveLength(1);
    expect(pod.initContainers[0]).toMatchObject({ name: "tenure", restartPolicy: "Always" });
  });
});

describe("a rollout that would hang is rejected, with the numbers and a fix", () => {
  test.each(["ready-file", "configmap"])("%s if a Ready pod must be kept", async (traffic) => {
    for (const amount of ["1", "2", "25%", "67%"]) {
      const { code, err, out } = await tenure(
        `${typed} --traffic ${traffic} --port 80 --max-unavailable ${amount} -- node worker.js`,
      );
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain(`maxUnavailable ${amount}`);
      expect(err).toContain("1 of 3 pods is available");
      expect(err).toContain("use --max-unavailable 3");
      expect(err).toContain("--strategy recreate");
      expect(err).toContain("label or endpointslice");
    }
  });

  test.each(["--max-unavailable 3", "--max-unavailable 100%", "--strategy recreate", ""])(
    "not with %s",
    async (flags) => {
      const { code, err } = await tenure(
        `${typed} --traffic ready-file --port 80 ${flags} -- node worker.js`,
      );
      expect({ code, err }).toEqual({ code: 0, err: "" });
    },
  );

  test("not if standbys are Ready", async () => {
    const { code } = await tenure(`${typed} --traffic label --port 80 --max-unavailable 1 -- node worker.js`);
    expect(code).toBe(0);
  });
});

describe("wrong input", () => {
  test("all problems are reported at once", async () => {
    const { code, err, out } = await tenure(
      "manifests --name Billing_1 --namespace . --image registry/x:1 --replicas 0 --port 8081 --max-surge x",
    );
    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const flag of [
      "--name",
      "--namespace",
      "--replicas",
      "--port must differ from --status-port",
      "--max-surge",
      "--mode run",
    ]) {
      expect(err).toContain(flag);
    }
    expect(err).not.toContain("    at ");
  });

  test.each([
    ["", "--name"],
    ["--replicas x -- a", "whole number"],
    ["--traffic dns -- a", "Allowed choices"],
    ["--traffic label -- a", "--traffic label requires --port"],
    ["--stop-timeout soon -- a", "whole number of seconds"],
    ["-o toml -- a", "Allowed choices"],
  ])("%s", async (flags, expected) => {
    const { code, err } = await tenure(flags ? `${typed} ${flags}` : "manifests");
    expect(code).toBe(2);
    expect(err).toContain(expected);
  });
});
