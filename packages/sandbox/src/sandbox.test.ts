import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";
import { openStore } from "./store/open.ts";
import { lease, leasesPath, send, watch } from "./testing/client.ts";

const running: Sandbox[] = [];
const temporary: string[] = [];
async function start(options?: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  running.push(sandbox);
  return sandbox;
}
async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "tenure-sandbox-test-"));
  temporary.push(path);
  return path;
}
afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.close();
  for (const path of temporary.splice(0)) await rm(path, { recursive: true, force: true });
});

test("serves HTTPS with a certificate of its own CA, and requires a token", async () => {
  const sandbox = await start();
  expect(sandbox.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect((await send(sandbox, "GET", "/version")).body.gitVersion).toMatch(/^v1\.\d+\.\d+\+tenure-sandbox$/);
  expect((await send(sandbox, "GET", leasesPath, undefined, { token: "" })).status).toBe(403);
  expect((await send(sandbox, "GET", leasesPath, undefined, { token: "wrong" })).status).toBe(401);
});

test("serves plain HTTP without TLS", async () => {
  const sandbox = await start({ tls: false });
  expect(sandbox.url).toMatch(/^http:/);
  expect(sandbox.caPem).toBe("");
  expect((await send(sandbox, "GET", leasesPath)).status).toBe(200);
});

test("anonymous access needs no token", async () => {
  const sandbox = await start({ anonymous: true });
  expect((await send(sandbox, "POST", leasesPath, lease("a"), { token: "" })).status).toBe(201);
});

test("anonymous access ends with the server that allowed it, even if the data is kept", async () => {
  const dataDir = await directory();
  const create = (sandbox: Sandbox, name: string) =>
    send(sandbox, "POST", leasesPath, lease(name), { token: "" });
  const open = await start({ anonymous: true, dataDir });
  expect((await create(open, "a")).status).toBe(201);
  await open.close();
  const closed = await start({ dataDir });
  expect((await create(closed, "b")).status).toBe(403);
  // The binding that an earlier version stored is removed too.
  const roleRef = { kind: "ClusterRole", name: "cluster-admin", apiGroup: "rbac.authorization.k8s.io" };
  const subjects = [{ kind: "Group", name: "system:unauthenticated" }];
  const binding = { metadata: { name: "tenure:anonymous" }, roleRef, subjects };
  const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  expect((await send(closed, "POST", path, binding)).status).toBe(201);
  expect((await create(closed, "c")).status).toBe(201);
  await closed.close();
  expect((await create(await start({ dataDir }), "d")).status).toBe(403);
});

test("a web page cannot use anonymous access", async () => {
  const sandbox = await start({ anonymous: true, tls: false });
  const create = (name: string, headers: Record<string, string>, token = "") =>
    send(sandbox, "POST", leasesPath, lease(name), { token, headers });
  expect((await create("a", { Origin: "http://evil.example" })).status).toBe(403);
  expect((await create("a", { Host: "evil.example" })).status).toBe(403);
  expect((await create("a", { Host: "localhost" })).status).toBe(201);
  expect((await create("b", { Origin: "http://evil.example" }, sandbox.adminToken)).status).toBe(201);
});

test("a client certificate of the CA identifies the user", async () => {
  const sandbox = await start();
  const { keyPem, certificatePem } = sandbox.clientCertificate("jane", ["readers"]);
  const credentials = { token: "", key: keyPem, cert: certificatePem };
  const { body } = await send(
    sandbox,
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    {},
    credentials,
  );
  expect(body.status.userInfo).toMatchObject({
    username: "jane",
    groups: ["readers", "system:authenticated"],
  });
});

test("a certificate of another CA is ignored", async () => {
  const [sandbox, other] = [await start(), await start()];
  const { keyPem, certificatePem } = other.clientCertificate("jane", ["system:masters"]);
  const { status } = await send(sandbox, "GET", leasesPath, undefined, {
    token: "",
    key: keyPem,
    cert: certificatePem,
  });
  expect(status).toBe(403);
});

test("only the owner can read the kubeconfig file", async () => {
  const sandbox = await start();
  const path = join(await directory(), "below", "kubeconfig");
  await sandbox.writeKubeconfig(path);
  await chmod(path, 0o644);
  await sandbox.writeKubeconfig(path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, "utf8")).toBe(sandbox.kubeconfig);
  expect(sandbox.kubeconfig).toContain(`server: "${sandbox.url}"`);
});

test("a ServiceAccount has a directory as in a pod, and closing the sandbox removes it", async () => {
  const sandbox = await start();
  const { token, directory: mounted, env } = await sandbox.serviceAccount("default", "candidate");
  expect(await readFile(join(mounted, "token"), "utf8")).toBe(token);
  expect(await readFile(join(mounted, "ca.crt"), "utf8")).toBe(sandbox.caPem);
  expect(await readFile(join(mounted, "namespace"), "utf8")).toBe("default");
  expect(`https://${env.KUBERNETES_SERVICE_HOST}:${env.KUBERNETES_SERVICE_PORT}`).toBe(sandbox.url);
  const { status, body } = await send(sandbox, "GET", leasesPath, undefined, { token });
  expect(status).toBe(403);
  expect(body.message).toContain("system:serviceaccount:default:candidate");
  await sandbox.close();
  await expect(stat(mounted)).rejects.toThrow("ENOENT");
});

test("deleting a ServiceAccount invalidates its token", async () => {
  const sandbox = await start();
  const { token } = await sandbox.serviceAccount("default", "candidate");
  await send(sandbox, "DELETE", "/api/v1/namespaces/default/serviceaccounts/candidate");
  expect((await send(sandbox, "GET", leasesPath, undefined, { token })).status).toBe(401);
});

test("a ServiceAccount in a missing namespace is rejected, and the error says what to do", async () => {
  const sandbox = await start();
  await expect(sandbox.serviceAccount("nowhere", "x")).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message:
      "Cannot create the ServiceAccount x as the namespace nowhere does not exist: create the namespace first",
  });
});

test("a restart keeps port and data, and closes open connections", async () => {
  const sandbox = await start();
  const { body } = await send(sandbox, "POST", leasesPath, lease("a"));
  const watching = await watch(
    sandbox,
    `${leasesPath}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  await sandbox.restart();
  await watching.ended;
  const again = await send(sandbox, "GET", `${leasesPath}/a`);
  expect(again.body.metadata.uid).toBe(body.metadata.uid);
  const resumed = await watch(
    sandbox,
    `${leasesPath}?watch=1&resourceVersion=${body.metadata.resourceVersion}`,
  );
  await send(sandbox, "DELETE", `${leasesPath}/a`);
  expect((await resumed.next()).type).toBe("DELETED");
  resumed.close();
});

test("a watch from before a compaction fails with 410", async () => {
  const sandbox = await start();
  const { body } = await send(sandbox, "POST", leasesPath, lease("a"));
  await send(sandbox, "POST", leasesPath, lease("b"));
  sandbox.compact();
  const late = await watch(sandbox, `${leasesPath}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  expect(await late.next()).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
});

test("a page from before a compaction gets 410 and a token to continue with", async () => {
  const sandbox = await start();
  for (const name of ["a", "b", "c"]) await send(sandbox, "POST", leasesPath, lease(name));
  const first = await send(sandbox, "GET", `${leasesPath}?limit=1`);
  await send(sandbox, "POST", leasesPath, lease("d"));
  sandbox.compact();
  const { status, body } = await send(
    sandbox,
    "GET",
    `${leasesPath}?limit=1&continue=${first.body.metadata.continue}`,
  );
  expect(status).toBe(410);
  const rest = await send(sandbox, "GET", `${leasesPath}?continue=${body.metadata.continue}`);
  expect(rest.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
    "b",
    "c",
    "d",
  ]);
});

test("two servers over one store behave like one cluster", async () => {
  const store = await openStore();
  const [one, two] = [await start({ store }), await start({ store })];
  expect(two.adminToken).toBe(one.adminToken);
  expect(two.caPem).toBe(one.caPem);
  const watching = await watch(two, `${leasesPath}?watch=1`);
  const { body } = await send(one, "POST", leasesPath, lease("a"));
  expect((await watching.next()).object.metadata.uid).toBe(body.metadata.uid);
  const answers = await Promise.all(
    [one, two].map((server) =>
      send(server, "PUT", `${leasesPath}/a`, { ...body, spec: { holderIdentity: server.url } }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const { token } = await one.serviceAccount("default", "x");
  expect(
    (await send(two, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { token })).status,
  ).toBe(201);
  watching.close();
});

test("a data directory keeps objects, revision, CA and tokens across restarts", async () => {
  const dataDir = join(await directory(), "data");
  const first = await start({ dataDir });
  const { body } = await send(first, "POST", leasesPath, lease("a", { holderIdentity: "x" }));
  const { token } = await first.serviceAccount("default", "candidate");
  await first.close();
  const second = await start({ dataDir });
  expect(second.adminToken).toBe(first.adminToken);
  expect(second.caPem).toBe(first.caPem);
  const found = await send(second, "GET", `${leasesPath}/a`);
  expect(found.body).toEqual(body);
  expect((await send(second, "GET", leasesPath, undefined, { token })).status).toBe(403);
  const next = await send(second, "POST", leasesPath, lease("b"));
  expect(Number(next.body.metadata.resourceVersion)).toBeGreaterThan(Number(body.metadata.resourceVersion));
});

test("a port in use is rejected, and the error says what to do", async () => {
  const first = await start();
  await expect(startSandbox({ port: first.port })).rejects.toMatchObject({
    code: "CANNOT_LISTEN",
    message: `Cannot listen on 127.0.0.1:${first.port} as the port is in use: stop the process that uses it, or choose another port (0 picks a free one)`,
  });
});

test("the error names all invalid options", async () => {
  const store = await openStore();
  await expect(startSandbox({ port: -1, dataDir: "/x", store })).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message:
      "Cannot start the sandbox as port must be a whole number from 0 to 65535: -1; dataDir and store cannot be combined",
  });
});

test("restarts at once, even while a client has connected and does not go on with its TLS handshake", async () => {
  const sandbox = await start();
  const silent = connect(Number(new URL(sandbox.url).port), "127.0.0.1");
  const ended = once(silent, "close");
  await once(silent, "connect");
  await sandbox.restart();
  await ended;
});

test("closing during a restart leaves no listening server", async () => {
  const sandbox = await start();
  const restarting = sandbox.restart();
  await sandbox.close();
  await restarting;
  await expect(send(sandbox, "GET", leasesPath)).rejects.toThrow("ECONNREFUSED");
});

test("closing twice has no further effect", async () => {
  const sandbox = await start();
  await sandbox.close();
  await sandbox.close();
  await expect(sandbox.restart()).rejects.toMatchObject({ code: "CLOSED" });
});
