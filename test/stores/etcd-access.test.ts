/** Authentication and encryption of a real etcd, and what a candidate reports when they fail: one sentence with the way out. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EtcdLock, type EtcdLockOptions } from "@tenure/etcd";
import { openEtcdStore, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { send } from "../../packages/sandbox/src/testing/client.ts";
import { record, viewIn } from "../conformance/locks-target.ts";
import { freePorts } from "../kube/ports.mjs";
import { type EtcdCluster, startEtcd } from "./etcd.mjs";

const { signal } = new AbortController();
let cluster: EtcdCluster;

async function failureOf(options: Partial<EtcdLockOptions>) {
  const lock = new EtcdLock({ name: "x", endpoints: cluster.endpoints, ...options });
  const answer = await lock.write(record("a"), undefined, signal);
  if (answer.kind !== "failed") throw new Error(`it did not fail: ${answer.kind}`);
  expect(answer.failure.message).not.toContain("secret");
  return answer.failure;
}

/** Two sandboxes on this etcd serve the same objects, also after `pauseMs`. */
async function serveTogether(access: Omit<EtcdLockOptions, "name" | "prefix">, pauseMs = 0) {
  const stores = [await openEtcdStore(access), await openEtcdStore(access)];
  const sandboxes = await Promise.all(stores.map((store) => startSandbox({ store })));
  const [first, second] = sandboxes as [(typeof sandboxes)[0], (typeof sandboxes)[0]];
  const path = "/api/v1/namespaces/default/configmaps";
  try {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const body = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "shared" },
      data: { key: "value" },
    };
    expect((await send(first, "POST", path, body)).status).toBe(201);
    expect((await send(second, "GET", `${path}/shared`)).body.data).toEqual({ key: "value" });
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
    await Promise.all(stores.map((store) => store.close()));
  }
}

describe("with passwords", () => {
  beforeAll(async () => {
    // Tokens that expire after a second, so that a test can see it.
    cluster = await startEtcd({ flags: ["--auth-token-ttl=1"] });
    const user = { name: "candidate", password: "secret" };
    // A user name is ignored while etcd does not ask for one.
    const early = new EtcdLock({ name: "early", endpoints: cluster.endpoints, username: "x", password: "y" });
    viewIn(await early.write(record("a"), undefined, signal));
    await cluster.call("/v3/auth/user/add", { name: "root", password: "root" });
    await cluster.call("/v3/auth/role/add", { name: "root" });
    await cluster.call("/v3/auth/user/grant", { user: "root", role: "root" });
    await cluster.call("/v3/auth/user/add", user);
    await cluster.call("/v3/auth/role/add", { name: "candidates" });
    const key = Buffer.from("/tenure/x").toString("base64");
    await cluster.call("/v3/auth/role/grant", { name: "candidates", perm: { permType: "READWRITE", key } });
    await cluster.call("/v3/auth/user/grant", { user: "candidate", role: "candidates" });
    await cluster.call("/v3/auth/enable", {});
  });
  afterAll(() => cluster?.stop());

  it("a candidate with rights on its own key takes part, also after its token expired", async () => {
    const lock = new EtcdLock({
      name: "x",
      endpoints: cluster.endpoints,
      username: "candidate",
      password: "secret",
    });
    let view = viewIn(await lock.write(record("a"), undefined, signal));
    const changes: string[] = [];
    const ending = new AbortController();
    const isUp = new Promise<void>((up) =>
      lock.watch(
        {
          observed: ({ record: { renewTime } }) => changes.push(String(renewTime)),
          deleted() {},
          changed() {},
          up,
          down() {},
        },
        ending.signal,
      ),
    );
    await isUp;
    // Longer than the token lives; etcd removes expired ones every second.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    view = viewIn(await lock.write(record("a", 1), view, signal));
    expect(view.record).toEqual(record("a", 1));
    await expect.poll(() => changes).toEqual([record("a", 1).renewTime]);
    ending.abort();
  });

  it("sandboxes with rights on the whole store share it, also after their tokens expired", async () => {
    await serveTogether({ endpoints: cluster.endpoints, username: "root", password: "root" }, 3_000);
  });

  it("a sandbox with a wrong password", async () => {
    const tenure = new URL("../../packages/cli/bin/tenure.cjs", import.meta.url).pathname;
    const store = String(cluster.endpoints[0]).replace("http", "etcd");
    const { status, stderr } = spawnSync(process.execPath, [tenure, "sandbox", "--store", store], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: tmpdir(), ETCD_USERNAME: "root", ETCD_PASSWORD: "secret" },
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^error: Cannot open the store in etcd http:\/\/127\.0\.0\.1:\d+: .*authentication failed.*\. Check user name and password: ETCD_USERNAME/,
    );
    expect(stderr).not.toContain("secret");
  });

  it("a wrong password", async () => {
    expect(await failureOf({ username: "candidate", password: "wrong" })).toEqual({
      kind: "denied",
      message:
        `Cannot write the lock x in etcd ${cluster.endpoints[0]?.slice(7)}: etcdserver: authentication failed, invalid user ID or password. ` +
        "Check user name and password: ETCD_USERNAME and ETCD_PASSWORD, or the options username and password",
    });
  });

  it("no password", async () => {
    expect(await failureOf({})).toMatchObject({
      kind: "denied",
      message: expect.stringContaining("Check user name and password"),
    });
  });

  it("missing rights", async () => {
    const failure = await failureOf({ name: "y", username: "candidate", password: "secret" });
    expect(failure).toMatchObject({
      kind: "denied",
      message: expect.stringContaining(
        "permission denied. Grant it: etcdctl role grant-permission ROLE readwrite /tenure/y",
      ),
    });
  });

  it("a member that does not answer", async () => {
    const [port] = await freePorts(1);
    expect(await failureOf({ endpoints: [`127.0.0.1:${port}`] })).toMatchObject({
      kind: "unreachable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("with TLS", () => {
  let folder: string;
  const file = (name: string) => join(folder, name);
  const pem = (name: string) => readFileSync(file(name), "utf8");

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenure-tls-"));
    const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
    const subject = (name: string) => ["-nodes", "-newkey", "rsa:2048", "-subj", `/CN=${name}`];
    openssl("req", "-x509", ...subject("ca"), "-keyout", "ca.key", "-out", "ca.crt", "-days", "2");
    for (const name of ["server", "client"]) {
      openssl("req", ...subject(name), "-keyout", `${name}.key`, "-out", `${name}.csr`);
      const sign = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
      execFileSync(
        "bash",
        [
          "-c",
          `openssl x509 -req -in ${name}.csr ${sign.join(" ")} -out ${name}.crt -extfile <(echo subjectAltName=IP:127.0.0.1)`,
        ],
        { cwd: folder, stdio: "pipe" },
      );
    }
    cluster = await startEtcd({
      scheme: "https",
      flags: [
        `--cert-file=${file("server.crt")}`,
        `--key-file=${file("server.key")}`,
        `--trusted-ca-file=${file("ca.crt")}`,
        "--client-cert-auth",
      ],
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("a candidate with a certificate takes part", async () => {
    const tls = { ca: pem("ca.crt"), cert: pem("client.crt"), key: pem("client.key") };
    const lock = new EtcdLock({ name: "x", endpoints: cluster.endpoints, tls });
    await expect
      .poll(async () => (await lock.write(record("a"), undefined, signal)).kind)
      .toMatch(/found|conflict/);
    expect(viewIn(await lock.read(signal)).record).toEqual(record("a"));
  });

  it("sandboxes with a certificate share the store", async () => {
    const tls = { ca: pem("ca.crt"), cert: pem("client.crt"), key: pem("client.key") };
    await serveTogether({ endpoints: cluster.endpoints, tls });
  });

  it("an unknown authority", async () => {
    const failure = await failureOf({});
    expect(failure.kind).toBe("unreachable");
    expect(failure.message).toMatch(/certificate/);
  });
});
