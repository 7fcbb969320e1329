/** Wrong input, no cluster, no rights, no such lock: every command prints one sentence with a fix, and no stack trace. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, type Ran, start, TestCluster } from "./commands.ts";

let cluster: TestCluster;
let nobody: string;
let gone: string;
let wrongToken: string;

beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
  const { token } = await cluster.sandbox.serviceAccount("default", "nobody");
  const config = (name: string, change: (text: string) => string) => {
    const file = join(cluster.folder, name);
    return writeFile(file, change(cluster.sandbox.kubeconfig)).then(() => file);
  };
  nobody = await config("nobody", (text) => text.replace(cluster.sandbox.adminToken, token));
  gone = await config("gone", (text) => text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
  wrongToken = await config("wrong", (text) => text.replace(cluster.sandbox.adminToken, "wrong"));
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

/** Every command, with valid arguments. */
const commands: readonly (readonly string[])[] = [
  ["status", "billing"],
  ["list"],
  ["watch", "billing"],
  ["watch"],
  ["step-down", "billing"],
  ["transfer", "billing", "--to", "pod-b"],
  ["pause", "billing"],
  ["resume", "billing"],
  ["doctor", "billing"],
  ["probe", "--lease", "billing", "--id", "pod-a"],
];

function expectOneSentence({ out, err }: Ran): void {
  expect(err).not.toMatch(/^ {4}at |node:internal|Error:/m);
  expect(err).toMatch(/^error: .+\n$/);
  expect(out).toBe("");
}

describe("no cluster", () => {
  it.each(commands)("%s %s", async (...args) => {
    const ran = await start(args).ran;
    expectOneSentence(ran);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("Cannot find a Kubernetes cluster");
    expect(ran.err).toContain("tenure sandbox");
  });
});

describe("a kubeconfig that does not exist", () => {
  it.each(commands)("%s %s", async (...args) => {
    const ran = await start([...args, "--kubeconfig", "/nonexistent/config"]).ran;
    expectOneSentence(ran);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("/nonexistent/config");
  });
});

describe("a cluster that does not respond", () => {
  it.each(commands.filter(([name]) => name !== "doctor"))("%s %s", async (...args) => {
    const ran = await start([...args, "--kubeconfig", gone]).ran;
    expectOneSentence(ran);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("127.0.0.1:1");
  });

  it("doctor reports a finding", async () => {
    const { code, out } = await start(["doctor", "--kubeconfig", gone]).ran;
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ credentials {2}.*127\.0\.0\.1:1.*\n {4}fix: check that https:\/\/127\.0\.0\.1:1 is the right address/,
    );
  });
});

describe("credentials that are rejected", () => {
  it.each(commands.filter(([name]) => name !== "doctor"))("%s %s", async (...args) => {
    const ran = await start([...args, "--kubeconfig", wrongToken]).ran;
    expectOneSentence(ran);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/401|Unauthorized|credentials/i);
  });

  it("doctor reports a finding", async () => {
    const { code, out } = await start(["doctor", "--kubeconfig", wrongToken]).ran;
    expect(code).toBe(1);
    expect(out).toMatch(
      /✗ credentials .*\n {4}fix: the token or certificate has expired or belongs to another cluster/,
    );
  });
});

describe("no rights: the missing rule is printed", () => {
  it.each(commands.filter(([name]) => name !== "doctor"))("%s %s", async (...args) => {
    const ran = await start([...args, "--kubeconfig", nobody]).ran;
    expectOneSentence(ran);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('apiGroups: ["coordination.k8s.io"], resources: ["leases"]');
  });

  it("doctor reports a finding, and what it could not check", async () => {
    const { code, out, err } = await start(["doctor", "billing", "--kubeconfig", nobody]).ran;
    expect([code, err]).toEqual([1, ""]);
    expect(out).toMatch(/^- surroundings you may not list pods in namespace "default", so pods, /m);
    expect(out).toMatch(
      /^✗ access {7}default\/billing: you may not get leases "billing" in namespace "default", so whether the election exists and who leads is unknown$/m,
    );
    expect(out).toContain('resourceNames: ["billing"], verbs: ["get", "watch"]}');
    expect(out).not.toContain("does not exist");
  });

  it("rights to read are not enough to give orders, and the missing rule is printed", async () => {
    const { token } = await cluster.sandbox.serviceAccount("default", "reader");
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    const rules = [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list"] }];
    await cluster.create(`${rbac}/roles`, { metadata: { name: "reader" }, rules });
    await cluster.create(`${rbac}/rolebindings`, {
      metadata: { name: "reader" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
      subjects: [{ kind: "ServiceAccount", name: "reader", namespace: "default" }],
    });
    await cluster.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", {
      metadata: { name: "read-only" },
      spec: {
        holderIdentity: "pod-a",
        leaseDurationSeconds: 60,
        renewTime: new Date().toISOString().replace("Z", "000Z"),
      },
    });
    const file = join(cluster.folder, "reader");
    await writeFile(file, cluster.sandbox.kubeconfig.replace(cluster.sandbox.adminToken, token));
    const status = await start(["status", "read-only", "--kubeconfig", file]).ran;
    expect([status.code, status.err]).toEqual([0, ""]);
    const watching = await start(["watch", "read-only", "--kubeconfig", file]).ran;
    expectOneSentence(watching);
    expect([watching.code, watching.err]).toEqual([
      1,
      expect.stringContaining('resourceNames: ["read-only"], verbs: ["watch"]'),
    ]);
    const ran = await start(["step-down", "read-only", "--kubeconfig", file]).ran;
    expectOneSentence(ran);
    expect([ran.code, ran.err]).toEqual([
      1,
      expect.stringContaining('resourceNames: ["read-only"], verbs: ["patch"]'),
    ]);
  });
});

describe("no such election", () => {
  const named = commands.filter(([name, arg]) => arg === "billing" && name !== "watch" && name !== "doctor");

  it.each(named)("%s %s", async (...args) => {
    const ran = await cluster.tenure(...args, "-n", "kube-public");
    expectOneSentence(ran);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain('There is no election "billing" in namespace "kube-public"');
  });

  it("suggests a similar name, or the right namespace", async () => {
    await cluster.namespace("prod");
    const path = "/apis/coordination.k8s.io/v1/namespaces/prod/leases";
    await cluster.create(path, { metadata: { name: "invoicing" }, spec: { holderIdentity: "a" } });
    expect((await cluster.tenure("status", "invoiceing", "-n", "prod")).err).toContain(
      'did you mean "invoicing"?',
    );
    expect((await cluster.tenure("status", "invoicing", "-n", "kube-public")).err).toContain("add -n prod");
  });
});

describe("wrong input exits with 2", () => {
  it.each([
    [["status"], "missing required argument 'name'"],
    [["status", "Bad_Name"], "NAME must be 1 to 253 lower case letters, digits, '-' or '.'"],
    [["status", "x", "-n", "a/b"], "--namespace must be 1 to 253 lower case"],
    [["status", "x", "-o", "xml"], "Allowed: wide, json, yaml, name, jsonpath=TEMPLATE; did you mean yaml?"],
    [
      ["status", "x", "--lock", "secret"],
      '--lock must be one of lease, configmap, endpoints, or a URL that begins with postgres://, etcd:// or etcds://, but is "secret"',
    ],
    [
      ["status", "x", "--sandbox", "http://127.0.0.1:1", "--context", "y"],
      "--sandbox cannot be combined with --context",
    ],
    [["list", "--al-namespaces"], "unknown option '--al-namespaces'"],
    [["watch", "x", "-A"], "NAME cannot be combined with --all-namespaces"],
    [["watch", "--window", "5"], '--window must be a duration like "15s" or "500ms", but is "5"'],
    [["transfer", "x"], "required option '--to <id>' not specified"],
    [["transfer", "x", "--to", ""], "Allowed: the identity of a candidate."],
    [["step-down", "x", "--timeout", "0s"], "--timeout must be greater than zero, but is 0s"],
    [
      ["doctor", "x", "--preset", "fast"],
      '--preset must be one of standard, fast-failover, low-load, but is "fast"',
    ],
    [["probe"], "tenure probe needs exactly one of --file, --url and --lease, but is given 0"],
    [["probe", "--file", "a", "--url", "http://b"], "but is given 2"],
    [["probe", "--lease", "x"], "--lease requires --id; or set POD_NAME"],
    [["probe", "--file", "a", "--contains", ""], "--contains must not be empty"],
    [["stauts", "x"], "Did you mean status?"],
  ])("%j", async (args, words) => {
    const { code, out, err } = await start(args).ran;
    expect(err).toContain(words);
    expect(err).not.toMatch(/^ {4}at /m);
    expect([code, out]).toEqual([2, ""]);
  });

  it("reports all problems at once", async () => {
    const { err } = await start(["step-down", "X", "--timeout", "soon", "-n", "Y"]).ran;
    expect(err).toContain("Cannot run tenure step-down, there are 3 problems");
  });

  it("checks values from the environment too, and names their variables", async () => {
    const env = { KUBECONFIG: cluster.kubeconfig, TENURE_OUTPUT: "xml", TENURE_LOCK: "secret" };
    const { code, err } = await start(["status", "x"], env).ran;
    expect(code).toBe(2);
    expect(err).toContain("TENURE_LOCK must be one of lease, configmap, endpoints, or a URL");
    expect(err).toContain('postgres://, etcd:// or etcds://, but is "secret"');
    expect(err).toContain(
      'TENURE_OUTPUT must be one of json, yaml, wide, name, jsonpath=TEMPLATE, but is "xml"; did you mean yaml?',
    );
  });
});
