/** What users of kubectl expect of `tenure list` and `tenure status`: -w, -l, -A, --no-headers, -o name and -o jsonpath. */
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { printJsonPath } from "../../../packages/cli/src/display/json-path.ts";
import { checkRunBuild } from "../run/replicas.ts";
import { endAll, leases, microTime, record, TestCluster } from "./commands.ts";

let cluster: TestCluster;
beforeAll(async () => {
  checkRunBuild();
  cluster = await TestCluster.start();
}, 60_000);
afterEach(endAll);
afterAll(() => cluster?.close());

const create = (name: string, spec: object, namespace: string, labels = {}) =>
  cluster.create(leases(namespace), { metadata: { name, labels }, spec });
const change = (name: string, namespace: string, spec: object) =>
  cluster.client.request({
    method: "PATCH",
    path: `${leases(namespace)}/${name}`,
    body: { spec },
    contentType: "application/merge-patch+json",
  });

describe("tenure list", () => {
  it("-l lists only locks with these labels, and --no-headers leaves the headings out", async () => {
    const namespace = await cluster.namespace("labelled");
    await create("billing", record("pod-a"), namespace, { app: "billing" });
    await create("mail", record("pod-b"), namespace, { app: "mail" });
    const { out } = await cluster.tenure("list", "-n", namespace, "-l", "app=billing", "--no-headers");
    expect(out).toMatch(/^billing +pod-a .*\n$/);
    const none = await cluster.tenure("list", "-n", namespace, "-l", "app=none");
    expect([none.out, none.err]).toEqual(["", expect.stringContaining("with the labels app=none")]);
  });

  it("-o name prints names that kubectl takes, and -o jsonpath the data of -o json", async () => {
    const namespace = await cluster.namespace("named");
    await create("billing", record("pod-a"), namespace);
    await create("mail", record("pod-b", { leaseTransitions: 4 }), namespace);
    const names = await cluster.tenure("list", "-n", namespace, "-o", "name");
    expect(names.out).toBe("lease.coordination.k8s.io/billing\nlease.coordination.k8s.io/mail\n");
    const template = 'jsonpath={range .items[?(@.transitions>2)]}{.name} {.leader}{"\\n"}{end}';
    expect((await cluster.tenure("list", "-n", namespace, "-o", template)).out).toBe("mail pod-b\n");
    expect((await cluster.tenure("status", "mail", "-n", namespace, "-o", "jsonpath={.leader}")).out).toBe(
      "pod-b",
    );
  });

  it("-w prints a row for every change, none for renewals, and one when the lease expires", async () => {
    const namespace = await cluster.namespace("watched");
    await create("billing", record("pod-a"), namespace);
    const watching = cluster.start("list", "-n", namespace, "-w");
    await watching.line(/^billing +pod-a/);
    await change("billing", namespace, { renewTime: microTime() });
    await change("billing", namespace, {
      holderIdentity: "pod-b",
      leaseTransitions: 1,
      leaseDurationSeconds: 1,
      renewTime: microTime(),
    });
    await watching.line(/^billing +pod-b/);
    await watching.line(/^billing +<none> .* expired$/);
    await cluster.client.request({ method: "DELETE", path: `${leases(namespace)}/billing` });
    await watching.line(/^billing +<none> .* deleted$/);
    watching.kill("SIGINT");
    expect((await watching.ran).code).toBe(0);
    expect(watching.lines.filter((line) => line.includes("pod-a"))).toHaveLength(1);
  });

  it("-w -o json prints one object on each line", async () => {
    const namespace = await cluster.namespace("streamed");
    await create("billing", record("pod-a"), namespace);
    const watching = cluster.start("list", "-n", namespace, "-w", "-o", "json");
    expect(JSON.parse(await watching.line(/pod-a/))).toMatchObject({ name: "billing", leader: "pod-a" });
    await change("billing", namespace, { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 1 });
    expect(JSON.parse(await watching.line(/"standing":"released"/))).toMatchObject({ leader: null });
    watching.kill("SIGTERM");
    expect((await watching.ran).code).toBe(0);
  });
});

it("tenure status -w prints the election, then every change", async () => {
  const namespace = await cluster.namespace("followed");
  await create("billing", record("pod-a"), namespace);
  const watching = cluster.start("status", "billing", "-n", namespace, "-w");
  await watching.line(/leader +pod-a/);
  await change("billing", namespace, {
    holderIdentity: "pod-b",
    leaseTransitions: 1,
    renewTime: microTime(),
  });
  await watching.line(/followed\/billing {2}pod-b leads \(transition 1/);
  watching.kill("SIGINT");
  expect((await watching.ran).code).toBe(0);
});

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (!hasKubectl) console.log("JSONPath is not compared with kubectl, because kubectl is not installed");

describe.runIf(hasKubectl)("the templates of -o jsonpath print what kubectl prints", () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", labels: { app: "x", "a.b/c": "d" }, finalizers: ["x/1", "x/2", "x/3"] },
    data: { one: "1", two: "text" },
  };

  it.each([
    "{.metadata.name}",
    "{.data.one} and {.data.two}",
    "{.metadata.labels.a\\.b/c}",
    "{.metadata.labels['a\\.b/c']}",
    "{.metadata.finalizers}",
    "{.metadata.finalizers[*]}",
    "{.metadata.finalizers[0]}",
    "{.metadata.finalizers[-1]}",
    "{.metadata.finalizers[0:2]}",
    "{.metadata.finalizers[1:]}",
    "{.metadata.finalizers[0,2]}",
    "{.metadata['name','labels']}",
    "{..name}",
    "{.metadata.nothing}",
    '{range .metadata.finalizers[*]}{@}{"\\n"}{end}',
    '{"quoted {braces}"}',
    "{.kind}",
  ])("%s", async (template) => {
    const file = join(cluster.folder, "object.json");
    await writeFile(file, JSON.stringify(object));
    const args = ["label", "--local", "-f", file, "app=x", "--overwrite", "-o", `jsonpath=${template}`];
    const { stdout, status } = spawnSync("kubectl", args, { encoding: "utf8" });
    expect(status).toBe(0);
    expect(printJsonPath(template, object)).toBe(stdout);
  });
});
