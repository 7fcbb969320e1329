/** Tests that a bare kube-apiserver cannot run: kinds that are disabled by default, and pods on nodes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";
import { type Body, send } from "../testing/client.ts";
import { kinds } from "./kinds.ts";
import { allTypes } from "./schema.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ tls: false });
});
afterAll(() => sandbox.close());

test("every kind has a type and a unique name", () => {
  expect(kinds.filter(({ type }) => allTypes()[type] === undefined)).toEqual([]);
  const names = kinds.map(({ group, plural }) => `${plural}.${group}`);
  expect(new Set(names).size).toBe(names.length);
});

const candidatesPath = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates";
const candidate = (name: string, spec: Body) =>
  send(sandbox, "POST", candidatesPath, { metadata: { name }, spec });

test("a valid LeaseCandidate is stored", async () => {
  const spec = {
    leaseName: "l",
    binaryVersion: "1.36.0",
    emulationVersion: "1.35.0",
    strategy: "OldestEmulationVersion",
  };
  const { status, body } = await candidate("pod-1", spec);
  expect(status).toBe(201);
  expect(body.spec).toEqual(spec);
  const found = await send(sandbox, "GET", `${candidatesPath}?fieldSelector=spec.leaseName%3Dl`);
  expect(found.body.items).toHaveLength(1);
});

test.each([
  [
    {},
    ["spec.leaseName: Required value", "spec.binaryVersion: Required value", "spec.strategy: Required value"],
  ],
  [
    { leaseName: "l", binaryVersion: "1.2.3", emulationVersion: "1.3.0", strategy: "OldestEmulationVersion" },
    ['spec.binaryVersion: Invalid value: "1.2.3": must be greater than or equal to `emulationVersion`'],
  ],
  [
    { leaseName: "l", binaryVersion: "x", strategy: "OldestEmulationVersion" },
    [
      'spec.binaryVersion: Invalid value: "x": must be a valid semantic version',
      "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
    ],
  ],
])("the LeaseCandidate %j is invalid", async (spec, problems) => {
  const { status, body } = await candidate("bad", spec);
  expect(status).toBe(422);
  for (const problem of problems) expect(body.message).toContain(problem);
});

test("a pod on a node is kept until the node has stopped it; any other pod is removed immediately", async () => {
  const pods = "/api/v1/namespaces/default/pods";
  const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: "c", image: "i" }] } });
  await send(sandbox, "POST", pods, pod("loose"));
  await send(sandbox, "DELETE", `${pods}/loose`);
  expect((await send(sandbox, "GET", `${pods}/loose`)).status).toBe(404);
  await send(sandbox, "POST", pods, pod("bound"));
  const binding = { metadata: { name: "bound" }, target: { kind: "Node", name: "n1" } };
  expect((await send(sandbox, "POST", `${pods}/bound/binding`, binding)).status).toBe(201);
  const again = await send(sandbox, "POST", `${pods}/bound/binding`, binding);
  expect(again.status).toBe(409);
  expect(again.body.message).toContain('pod bound is already assigned to node "n1"');
  const { body } = await send(sandbox, "DELETE", `${pods}/bound`);
  expect(body.metadata.deletionGracePeriodSeconds).toBe(30);
  expect((await send(sandbox, "GET", `${pods}?fieldSelector=spec.nodeName%3Dn1`)).body.items).toHaveLength(1);
  await send(sandbox, "DELETE", `${pods}/bound`, { gracePeriodSeconds: 0 });
  expect((await send(sandbox, "GET", `${pods}/bound`)).status).toBe(404);
});

test("a pod needs an existing ServiceAccount", async () => {
  const spec = { serviceAccountName: "nobody", containers: [{ name: "c", image: "i" }] };
  const { status, body } = await send(sandbox, "POST", "/api/v1/namespaces/default/pods", {
    metadata: { name: "p" },
    spec,
  });
  expect(status).toBe(403);
  expect(body.message).toBe(
    'pods "p" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
  );
});
