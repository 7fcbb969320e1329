/** Tests with kubectl as the client. They are skipped, with a warning, if kubectl is not installed. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "./sandbox.ts";

const found = spawnSync("kubectl", ["version", "--client"]).status === 0;
if (!found) console.warn("kubectl is not on PATH: skipping its tests");

let sandbox: Sandbox;
let directory: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  sandbox = await startSandbox();
  directory = await mkdtemp(join(tmpdir(), "tenure-kubectl-"));
  await sandbox.writeKubeconfig(join(directory, "kubeconfig"));
  environment = { ...process.env, KUBECONFIG: join(directory, "kubeconfig"), HOME: directory };
});
afterAll(async () => {
  await sandbox?.close();
  await rm(directory, { recursive: true, force: true });
});

function kubectl(
  args: string,
  more: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...environment, ...more.env } };
    const child = execFile("kubectl", args.split(" "), options, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    child.stdin?.end(more.stdin ?? "");
  });
}

const deploymentManifest = `
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: election, labels: {app: demo}}
spec: {holderIdentity: pod-1, leaseDurationSeconds: 15, renewTime: "2024-01-01T00:00:00.000000Z"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: demo}
spec:
  replicas: 3
  selector: {matchLabels: {app: demo}}
  template:
    metadata: {labels: {app: demo}}
    spec:
      containers:
      - {name: demo, image: "demo:1", ports: [{containerPort: 8080}]}
`;

describe.skipIf(!found)(
  "kubectl",
  () => {
    test("apply creates, reports unchanged, and configures", async () => {
      const first = await kubectl("apply -f -", { stdin: deploymentManifest });
      expect(first).toMatchObject({
        code: 0,
        out: "lease.coordination.k8s.io/election created\ndeployment.apps/demo created\n",
      });
      const second = await kubectl("apply -f -", { stdin: deploymentManifest });
      expect(second.out).toBe(
        "lease.coordination.k8s.io/election unchanged\ndeployment.apps/demo unchanged\n",
      );
      const third = await kubectl("apply -f -", { stdin: deploymentManifest.replace("demo:1", "demo:2") });
      expect(third.out).toContain("deployment.apps/demo configured");
      const image = await kubectl(
        "get deployment demo -o jsonpath={.spec.template.spec.containers[0].image}",
      );
      expect(image.out).toBe("demo:2");
    });

    test("apply names a kind that no group declares", async () => {
      const stdin = "apiVersion: example.com/v1\nkind: Unknown\nmetadata: {name: x}\n";
      const { code, err } = await kubectl("apply -f -", { stdin });
      expect(code).not.toBe(0);
      expect(err).toContain('no matches for kind "Unknown" in version "example.com/v1"');
    });

    test("apply rejects an unknown field", async () => {
      const { code, err } = await kubectl("apply -f -", {
        stdin: deploymentManifest.replace("holderIdentity", "holder"),
      });
      expect(code).toBe(1);
      expect(err).toContain('strict decoding error: unknown field "spec.holder"');
    });

    test("server-side apply reports conflicts, and can force them", async () => {
      const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: '1'}\n";
      expect((await kubectl("apply --server-side -f - --field-manager one", { stdin: manifest })).code).toBe(
        0,
      );
      const other = { stdin: manifest.replace("'1'", "'2'") };
      const refused = await kubectl("apply --server-side -f - --field-manager two", other);
      expect(refused.err).toContain('conflict with "one": .data.a');
      expect(
        (await kubectl("apply --server-side -f - --field-manager two --force-conflicts", other)).code,
      ).toBe(0);
    });

    test("get prints tables, yaml, wide and jsonpath", async () => {
      const table = await kubectl("get leases");
      expect(table.out).toMatch(/^NAME +HOLDER +AGE\nelection +pod-1 +\d+s\n$/);
      expect((await kubectl("get lease election -o yaml")).out).toContain(
        'renewTime: "2024-01-01T00:00:00.000000Z"',
      );
      expect((await kubectl("get deployments -o wide")).out).toMatch(
        /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR\ndemo +0\/3/,
      );
      expect((await kubectl("get lease election -o jsonpath={.spec.holderIdentity}")).out).toBe("pod-1");
      expect((await kubectl("get all")).out).toContain("deployment.apps/demo");
    });

    test("get -w prints changes as they happen", async () => {
      const child = spawn("kubectl", ["get", "leases", "-w", "--no-headers"], { env: environment });
      let out = "";
      const seen = (text: string) =>
        new Promise<void>((resolve) => {
          const look = () => out.includes(text) && resolve();
          child.stdout.on("data", (chunk) => {
            out += chunk;
            look();
          });
          look();
        });
      await seen("pod-1");
      await kubectl('patch lease election -p {"spec":{"holderIdentity":"pod-2"}}');
      await seen("pod-2");
      child.kill();
    });

    test("describe, explain and api-resources support Leases", async () => {
      expect((await kubectl("describe lease election")).out).toMatch(/Holder Identity: +pod-2/);
      expect((await kubectl("explain lease.spec.leaseDurationSeconds")).out).toContain(
        "FIELD: leaseDurationSeconds <integer>",
      );
      expect((await kubectl("api-resources")).out).toMatch(/leases +coordination.k8s.io\/v1 +true +Lease/);
    });

    test("label, annotate, patch of every type, scale, edit", async () => {
      expect((await kubectl("label lease election tier=one")).out).toContain("labeled");
      expect((await kubectl("annotate lease election note=hello")).out).toContain("annotated");
      expect(
        (await kubectl('patch lease election --type merge -p {"spec":{"leaseTransitions":4}}')).out,
      ).toContain("patched");
      expect(
        (
          await kubectl(
            'patch lease election --type json -p [{"op":"remove","path":"/spec/leaseTransitions"}]',
          )
        ).out,
      ).toContain("patched");
      expect((await kubectl("scale deployment demo --replicas 5")).out).toContain("scaled");
      const editor = join(directory, "editor.sh");
      await writeFile(editor, '#!/bin/sh\nsed -i s/pod-2/pod-3/ "$1"\n', { mode: 0o755 });
      expect((await kubectl("edit lease election", { env: { EDITOR: editor } })).out).toContain("edited");
      expect((await kubectl("get lease election -o jsonpath={.spec.holderIdentity}")).out).toBe("pod-3");
    });

    test("create, which sends protobuf, and get events", async () => {
      expect((await kubectl("create configmap made --from-literal a=b")).out).toBe(
        "configmap/made created\n",
      );
      expect((await kubectl("get configmap made -o jsonpath={.data}")).out).toBe('{"a":"b"}');
      const event = `{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"kind":"Lease","name":"election","namespace":"default"},"reason":"LeaderElection","message":"pod-1 became leader","type":"Normal","count":1,"lastTimestamp":"2024-01-01T00:00:00Z"}`;
      await kubectl("create -f -", { stdin: event });
      expect((await kubectl("get events")).out).toMatch(
        /Normal +LeaderElection +lease\/election +pod-1 became leader/,
      );
      expect((await kubectl("events")).out).toContain("pod-1 became leader");
    });

    test("auth can-i answers for the user and for others", async () => {
      const account = "system:serviceaccount:default:default";
      expect((await kubectl("auth can-i create leases")).out).toBe("yes\n");
      expect((await kubectl(`auth can-i update leases --as ${account}`)).out).toBe("no\n");
      await kubectl("create role elector --verb get,update --resource leases");
      await kubectl("create rolebinding elector --role elector --serviceaccount default:default");
      expect((await kubectl(`auth can-i update leases --as ${account}`)).out).toBe("yes\n");
      expect((await kubectl(`auth can-i --list --as ${account}`)).out).toMatch(
        /leases.coordination.k8s.io +\[\] +\[\] +\[get update\]/,
      );
      expect((await kubectl("auth whoami")).out).toContain("kubernetes-admin");
      const token = await kubectl("create token default");
      expect(token.out.split(".")).toHaveLength(3);
    });

    test("delete deletes by label, and deletes a whole namespace", async () => {
      expect((await kubectl("delete lease -l app=demo")).out).toContain('"election" deleted');
      await kubectl("create namespace team");
      await kubectl("create configmap inside -n team");
      expect((await kubectl("delete namespace team")).out).toContain("deleted");
      expect((await kubectl("get namespace team")).err).toContain('namespaces "team" not found');
    });

    test("kubectl can read the kubeconfig", async () => {
      expect((await kubectl("config view")).out).toContain(`server: ${sandbox.url}`);
      expect(await readFile(join(directory, "kubeconfig"), "utf8")).toContain(
        "current-context: tenure-sandbox",
      );
    });
  },
  60_000,
);
