import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { type Access, call, must, watch } from "./api.ts";
import { findAssets, findExecutable, readPins } from "./assets.mjs";

const { adminToken, ...cluster } = inject("kube");
const admin: Access = { ...cluster, token: adminToken };
const { source } = await findAssets();
const kubectl = await findExecutable("kubectl", (process.env.PATH ?? "").split(":"));

// The features of an API server that an election needs.
describe("the cluster", () => {
  const namespace = `smoke-${randomUUID().slice(0, 8)}`;
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const selected = (name: string) => `?fieldSelector=metadata.name%3D${name}&watch=true`;
  let candidate: Access;

  beforeAll(async () => {
    await must(admin, "POST", "/api/v1/namespaces", { metadata: { name: namespace } });
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await must(admin, "POST", accounts, { metadata: { name: "candidate" } });
    const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
    await must(admin, "POST", `${rbac}/roles`, {
      metadata: { name: "candidate" },
      rules: [
        {
          apiGroups: ["coordination.k8s.io"],
          resources: ["leases"],
          resourceNames: ["office"],
          verbs: ["get", "update", "watch"],
        },
        // RBAC cannot limit create to a name.
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
      ],
    });
    await must(admin, "POST", `${rbac}/rolebindings`, {
      metadata: { name: "candidate" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "candidate" },
      subjects: [{ kind: "ServiceAccount", name: "candidate", namespace }],
    });
    const request = await must(admin, "POST", `${accounts}/candidate/token`, {
      spec: { expirationSeconds: 3600 },
    });
    candidate = { ...admin, token: request.status?.token ?? "" };
  });

  it("rejects an unknown token", async () => {
    const { status } = await call({ ...admin, token: "nobody" }, "GET", leases);
    expect(status).toBe(401);
  });

  it("lets a service account create and update a lease, and rejects a stale update", async () => {
    const lease = { metadata: { name: "office" }, spec: { holderIdentity: "a" } };
    const created = await call(candidate, "POST", leases, lease);
    expect(created.status).toBe(201);
    expect((await call(candidate, "POST", leases, lease)).status).toBe(409);

    const update = { ...created.body, spec: { holderIdentity: "b" } };
    const updated = await call(candidate, "PUT", `${leases}/office`, update);
    expect(updated.status).toBe(200);
    expect(updated.body.spec?.holderIdentity).toBe("b");
    expect(updated.body.metadata?.resourceVersion).not.toBe(created.body.metadata?.resourceVersion);

    const stale = await call(candidate, "PUT", `${leases}/office`, update);
    expect(stale).toMatchObject({ status: 409, body: { kind: "Status", reason: "Conflict" } });
  });

  it("starts a watch of one name without a resourceVersion with ADDED, then reports changes", async () => {
    const before = await must(candidate, "GET", `${leases}/office`);
    const events = watch(candidate, leases + selected("office"));
    const added = (await events.next()).value;
    expect(added).toMatchObject({ type: "ADDED", object: { metadata: before.metadata } });

    const after = await must(candidate, "PUT", `${leases}/office`, {
      ...before,
      spec: { holderIdentity: "c" },
    });
    const modified = (await events.next()).value;
    expect(modified).toMatchObject({ type: "MODIFIED", object: { metadata: after.metadata } });
    await events.return();
  });

  it("rejects what the role does not allow", async () => {
    for (const path of [`${leases}/other`, leases + selected("other"), `${leases}?watch=true`, leases]) {
      const { status, body } = await call(candidate, "GET", path);
      expect({ path, status, reason: body.reason }).toEqual({ path, status: 403, reason: "Forbidden" });
    }
  });

  it("accepts a pod, for tests that label one", async () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "none" }] } };
    expect((await call(admin, "POST", `/api/v1/namespaces/${namespace}/pods`, pod)).status).toBe(201);
  });

  it.runIf(source === "cache" || source === "build")("reports the pinned version", async () => {
    expect((await must(admin, "GET", "/version")).gitVersion).toBe(`v${(await readPins()).kubernetes}`);
  });

  it.skipIf(!kubectl)("works with kubectl", async () => {
    const env = { ...process.env, KUBECONFIG: process.env.TENURE_CONFORMANCE_KUBECONFIG };
    const run = promisify(execFile);
    const { stdout } = await run("kubectl", ["version"], { env });
    expect(stdout).toContain("Server Version: v1.");
    const list = await run("kubectl", ["get", "leases", "-n", namespace, "-o", "name"], { env });
    expect(list.stdout).toBe("lease.coordination.k8s.io/office\n");
  });
});
