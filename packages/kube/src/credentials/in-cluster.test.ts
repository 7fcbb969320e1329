import { describe, expect, it } from "vitest";
import { loadConfig } from "../load-config.ts";
import { FakePlatform } from "../testing/fake-platform.ts";

const dir = "/var/run/secrets/kubernetes.io/serviceaccount";

function pod(root = dir): FakePlatform {
  const platform = new FakePlatform();
  platform.env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
  platform.files.set(`${root}/token`, "secret\n");
  platform.files.set(`${root}/ca.crt`, "PEM\n");
  platform.files.set(`${root}/namespace`, "prod\n");
  return platform;
}

describe("in a pod", () => {
  it("uses the address, authority, namespace and token of the service account", async () => {
    const config = await loadConfig({ platform: pod() });
    expect(config).toMatchObject({ server: "https://10.96.0.1:443", ca: "PEM", namespace: "prod" });
    expect(await config.credentials.headers()).toEqual({ authorization: "Bearer secret" });
    expect(await config.credentials.tls()).toEqual({ ca: "PEM" });
  });
  it("puts an IPv6 address in brackets", async () => {
    const platform = pod();
    platform.env.KUBERNETES_SERVICE_HOST = "fd00::1";
    expect((await loadConfig({ platform })).server).toBe("https://[fd00::1]:443");
  });
  it("reads the token and the authority again when their files rotate", async () => {
    const platform = pod();
    const { credentials } = await loadConfig({ platform });
    await credentials.headers();
    await credentials.tls();
    platform.files.set(`${dir}/token`, "rotated");
    platform.files.set(`${dir}/ca.crt`, "PEM2");
    await platform.clock.pass(60_000);
    await credentials.headers();
    await credentials.tls();
    await new Promise(setImmediate);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer rotated" });
    expect(await credentials.tls()).toEqual({ ca: "PEM2" });
  });
  it("answers at once with the last token while the file system hangs, and says so", async () => {
    const platform = pod();
    const { credentials } = await loadConfig({ platform });
    await credentials.headers();
    await credentials.tls();
    platform.readFile = () => new Promise(() => {});
    await platform.clock.pass(60_000);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer secret" });
    expect(await credentials.tls()).toEqual({ ca: "PEM" });
    expect(credentials.problem?.()).toBeUndefined();
    await platform.clock.pass(30_000);
    expect(credentials.problem?.()).toContain(
      `Reading the service account token again from ${dir}/token has not finished for 30 s`,
    );
  });
  it("reads the token again at once after a 401", async () => {
    const platform = pod();
    const { credentials } = await loadConfig({ platform });
    await credentials.headers();
    platform.files.set(`${dir}/token`, "rotated");
    await credentials.refresh();
    expect(await credentials.headers()).toEqual({ authorization: "Bearer rotated" });
  });
  it.each([
    ["the serviceAccountDir option", { serviceAccountDir: "/elsewhere" }, {}],
    ["TENURE_SERVICEACCOUNT_DIR", {}, { TENURE_SERVICEACCOUNT_DIR: "/elsewhere" }],
  ])("reads the mount from %s", async (_what, options, env) => {
    const platform = pod("/elsewhere");
    Object.assign(platform.env, env);
    expect((await loadConfig({ ...options, platform })).namespace).toBe("prod");
  });
  it("has no namespace and no authority if their files are empty", async () => {
    const platform = pod();
    platform.files.set(`${dir}/namespace`, " \n");
    platform.files.set(`${dir}/ca.crt`, "\n");
    const config = await loadConfig({ platform });
    expect([config.namespace, config.ca]).toEqual([undefined, undefined]);
    expect(await config.credentials.tls()).toEqual({});
  });
  it.each(["namespace", "ca.crt"])("says that %s cannot be read", async (file) => {
    const platform = pod();
    const cause = Object.assign(new Error("EACCES"), { code: "EACCES" });
    platform.files.set(`${dir}/${file}`, cause);
    await expect(loadConfig({ platform })).rejects.toMatchObject({
      code: "BadConfig",
      message: `Cannot read ${dir}/${file}: permission denied.`,
      cause,
    });
  });
  it("keeps the authority that it read at the start if the file disappears", async () => {
    const platform = pod();
    const { credentials } = await loadConfig({ platform });
    platform.files.delete(`${dir}/ca.crt`);
    expect(await credentials.tls()).toEqual({ ca: "PEM" });
  });
  it("reports an authority that can no longer be read", async () => {
    const platform = pod();
    const { credentials } = await loadConfig({ platform });
    await credentials.headers();
    await credentials.tls();
    platform.files.delete(`${dir}/ca.crt`);
    await platform.clock.pass(60_000);
    await credentials.tls();
    await new Promise(setImmediate);
    expect(credentials.problem?.()).toContain("Cannot read the certificate authority again");
  });
  it("accepts a token of one MiB and no more", async () => {
    const platform = pod();
    platform.files.set(`${dir}/token`, "t".repeat(1_048_576));
    expect((await loadConfig({ platform })).namespace).toBe("prod");
    platform.files.set(`${dir}/token`, "t".repeat(1_048_577));
    await expect(loadConfig({ platform, waitForMountMs: 0 })).rejects.toThrow("it is too large");
  });
  it("does not require an authority, because a public one may have signed the server certificate", async () => {
    const platform = pod();
    platform.files.delete(`${dir}/ca.crt`);
    const config = await loadConfig({ platform });
    expect(config.ca).toBeUndefined();
    expect(await config.credentials.tls()).toEqual({});
  });
});

describe("a pod that starts before its credentials are mounted", () => {
  it("waits, reports that once, and continues as soon as they are mounted", async () => {
    const platform = pod();
    platform.files.delete(`${dir}/token`);
    const messages: string[] = [];
    const config = loadConfig({ platform, onWait: (message) => messages.push(message) });
    await platform.armed(250);
    await platform.clock.pass(250);
    await platform.armed(250);
    await platform.clock.pass(250);
    await platform.armed(250);
    platform.files.set(`${dir}/token`, "late");
    await platform.clock.pass(250);
    expect(await (await config).credentials.headers()).toEqual({ authorization: "Bearer late" });
    expect(messages).toEqual([`Waiting up to 60 s for ${dir}/token: it does not exist.`]);
  });
  it("fails after a minute and says what to check", async () => {
    const platform = pod();
    platform.files.set(`${dir}/token`, "");
    const result = loadConfig({ platform }).catch((error) => error);
    for (let waited = 0; waited < 60_000; waited += 250) {
      await platform.armed(250);
      await platform.clock.pass(250);
    }
    expect(await result).toMatchObject({
      code: "NoConfig",
      message:
        `Cannot use in-cluster credentials: no token in ${dir}/token after 60 s: it is empty. ` +
        "Is automountServiceAccountToken false for this pod? Set it to true, pass kubeconfig or set KUBECONFIG.",
    });
  });
  it("does not wait longer than waitForMountMs", async () => {
    const platform = pod();
    platform.files.set(`${dir}/token`, " \n");
    const result = loadConfig({ platform, waitForMountMs: 400 }).catch((error) => error);
    await platform.armed(250);
    await platform.clock.pass(250);
    await platform.armed(150);
    await platform.clock.pass(150);
    expect((await result).message).toContain("it is empty");
  });
  it("does not wait if the signal has aborted already", async () => {
    const platform = pod();
    await expect(loadConfig({ platform, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "Aborted",
    });
    expect(platform.reads).toEqual([]);
  });
  it("does not wait if waitForMountMs is 0", async () => {
    const platform = pod();
    platform.files.delete(`${dir}/token`);
    await expect(loadConfig({ platform, waitForMountMs: 0 })).rejects.toThrow("after 0 s");
  });
  it("stops waiting when the signal aborts", async () => {
    const platform = pod();
    platform.files.delete(`${dir}/token`);
    const controller = new AbortController();
    const result = loadConfig({ platform, signal: controller.signal }).catch((error) => error);
    await platform.armed(250);
    controller.abort();
    expect(await result).toMatchObject({ code: "Aborted" });
    expect(platform.clock.dueInMs).toEqual([]);
  });
});

describe("inCluster: true", () => {
  it.each(["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"])("requires %s", async (name) => {
    const platform = pod();
    platform.env[name] = undefined;
    await expect(loadConfig({ platform, inCluster: true })).rejects.toMatchObject({
      code: "NoConfig",
      message: expect.stringContaining(`${name} is not set, so this is not a pod`),
    });
  });
});
