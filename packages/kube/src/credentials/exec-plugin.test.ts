import { describe, expect, it } from "vitest";
import { loadConfig } from "../load-config.ts";
import { authority, clientCert, clientKey } from "../testing/certificates.ts";
import { deferred } from "../testing/deferred.ts";
import { FakePlatform } from "../testing/fake-platform.ts";

const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";

type Exec = Record<string, unknown>;

const output = (status: object, apiVersion = v1): string =>
  JSON.stringify({ apiVersion, kind: "ExecCredential", status });
const ok = (stdout: string, stderr = "") => ({ exitCode: 0, stdout, stderr });

async function setUp(exec: Exec = {}, cluster: object = {}) {
  const platform = new FakePlatform();
  platform.env = { PATH: "/bin", HOME: "/nowhere" };
  const user = { exec: { apiVersion: v1, command: "aws", interactiveMode: "Never", ...exec } };
  platform.files.set(
    "/dir/config",
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://api", ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const load = () =>
    loadConfig({ kubeconfig: "/dir/config", platform }).then(({ credentials }) => credentials);
  return { platform, load };
}

const info = (platform: FakePlatform): unknown =>
  JSON.parse(platform.runs[0]?.options.env.KUBERNETES_EXEC_INFO ?? "null");

describe("an exec plugin", () => {
  it("runs with its arguments, its environment added to ours, and KUBERNETES_EXEC_INFO", async () => {
    const { platform, load } = await setUp({
      args: ["eks", "get-token"],
      env: [{ name: "AWS_PROFILE", value: "p" }],
    });
    platform.program = () => ok(output({ token: "t" }));
    const credentials = await load();
    expect(platform.runs).toEqual([]);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t" });
    expect(platform.runs[0]).toMatchObject({
      command: "aws",
      args: ["eks", "get-token"],
      options: { interactive: false, env: { PATH: "/bin", AWS_PROFILE: "p" } },
    });
    expect(info(platform)).toEqual({ apiVersion: v1, kind: "ExecCredential", spec: { interactive: false } });
  });
  it("receives the cluster if it sets provideClusterInfo", async () => {
    const { platform, load } = await setUp(
      { provideClusterInfo: true, apiVersion: v1beta1 },
      {
        "certificate-authority-data": Buffer.from(authority).toString("base64"),
        "tls-server-name": "inner",
        "proxy-url": "http://proxy",
        extensions: [
          null,
          { name: "other", extension: { audience: "b" } },
          { name: "client.authentication.k8s.io/exec", extension: { audience: "a" } },
        ],
      },
    );
    platform.program = () => ok(output({ token: "t" }, v1beta1));
    await (await load()).headers();
    expect(info(platform)).toMatchObject({
      apiVersion: v1beta1,
      spec: {
        cluster: {
          server: "https://api",
          "certificate-authority-data": Buffer.from(authority).toString("base64"),
          "tls-server-name": "inner",
          "proxy-url": "http://proxy",
          config: { audience: "a" },
        },
      },
    });
  });
  it("receives only what the cluster has", async () => {
    const { platform, load } = await setUp(
      { provideClusterInfo: true },
      { "insecure-skip-tls-verify": true },
    );
    platform.program = () => ok(output({ token: "t" }));
    await (await load()).headers();
    expect(info(platform)).toMatchObject({ spec: { interactive: false } });
    expect((info(platform) as { spec: { cluster: object } }).spec.cluster).toEqual({
      server: "https://api",
      "insecure-skip-tls-verify": true,
    });
  });
  it("can provide a client certificate", async () => {
    const { platform, load } = await setUp();
    platform.program = () => ok(output({ clientCertificateData: clientCert, clientKeyData: clientKey }));
    const credentials = await load();
    expect(await credentials.tls()).toEqual({ cert: clientCert, key: clientKey });
    expect(await credentials.headers()).toEqual({});
    expect(platform.runs.length).toBe(1);
  });
  it.each([
    ['"token":"static"', "Bearer static"],
    ['"tokenFile":"token"', "Bearer from-file"],
    ['"username":"me"', `Basic ${Buffer.from("me:").toString("base64")}`],
  ])("does not run if there is also {%s}", async (other, authorization) => {
    const { platform, load } = await setUp();
    platform.files.set("/dir/token", "from-file");
    const text = platform.files.get("/dir/config") as string;
    platform.files.set("/dir/config", text.replace('"user":{', `"user":{${other},`));
    const credentials = await load();
    expect(await credentials.headers()).toEqual({ authorization });
    expect(await credentials.tls()).toEqual({});
    expect(platform.runs).toEqual([]);
  });
  it("may write one MiB, and leaves no timer", async () => {
    const { platform, load } = await setUp();
    platform.program = () => ok(output({ token: "t" }));
    const credentials = await load();
    expect(await credentials.tls()).toEqual({});
    expect(platform.runs[0]?.options.maxBytes).toBe(1_048_576);
    expect(platform.clock.dueInMs).toEqual([]);
  });
  it.each([
    ["./bin/plugin", "/dir/bin/plugin"],
    ["/abs/plugin", "/abs/plugin"],
    ["plugin", "plugin"],
  ])("with command %s starts %s", async (command, started) => {
    const { platform, load } = await setUp({ command });
    platform.program = () => ok(output({ token: "t" }));
    await (await load()).headers();
    expect(platform.runs[0]?.command).toBe(started);
  });
  it.each([
    ["Never", true, false],
    ["IfAvailable", true, true],
    ["IfAvailable", false, false],
    ["Always", true, true],
  ])(
    "with interactiveMode %s and terminal %s is interactive: %s",
    async (interactiveMode, terminal, expected) => {
      const { platform, load } = await setUp({ interactiveMode });
      platform.terminal = terminal;
      platform.program = () => ok(output({ token: "t" }));
      await (await load()).headers();
      expect(platform.runs[0]?.options.interactive).toBe(expected);
      expect(info(platform)).toMatchObject({ spec: { interactive: expected } });
    },
  );
});

describe("the credential of an exec plugin", () => {
  it("is used until it expires", async () => {
    const { platform, load } = await setUp();
    const credentials = await load();
    platform.program = () => {
      const expires = new Date(platform.clock.now().wallMs + 60_000).toISOString();
      return ok(output({ token: `t${platform.runs.length}`, expirationTimestamp: expires }));
    };
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t1" });
    await platform.clock.pass(59_999);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t1" });
    await platform.clock.pass(1);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t2" });
  });
  it("without an expiry is used until the server rejects it", async () => {
    const { platform, load } = await setUp();
    const credentials = await load();
    platform.program = () => ok(output({ token: `t${platform.runs.length}` }));
    await credentials.headers();
    await platform.clock.pass(1e9);
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t1" });
    await credentials.refresh();
    expect(await credentials.headers()).toEqual({ authorization: "Bearer t2" });
    expect(platform.runs.length).toBe(2);
  });
  it("is shared by all callers that wait for it", async () => {
    const { platform, load } = await setUp();
    const credentials = await load();
    const done = deferred<{ exitCode: number; stdout: string; stderr: string }>();
    platform.program = () => done.promise;
    const all = Promise.all([credentials.headers(), credentials.tls(), credentials.headers()]);
    done.resolve(ok(output({ token: "t" })));
    await all;
    expect(platform.runs.length).toBe(1);
  });
});

describe("an error names an exec plugin that", () => {
  const failing = async (exec: Exec, program: FakePlatform["program"]): Promise<Error & { code: string }> => {
    const { platform, load } = await setUp(exec);
    platform.program = program;
    const credentials = await load();
    return credentials.headers().then(
      () => expect.fail("expected a rejection"),
      (error) => error,
    );
  };
  const plugin = 'the exec plugin "aws" of user "u"';
  it.each<[string, () => { exitCode: number | null; stdout: string; stderr: string }, string]>([
    [
      "exits with an error code",
      () => ({ exitCode: 255, stdout: "", stderr: "token  expired,\nlog in" }),
      "failed with exit code 255, stderr: token expired, log in.",
    ],
    ["is killed by a signal", () => ({ exitCode: null, stdout: "", stderr: "" }), "was killed."],
    ["prints nothing", () => ok("", "hint"), "printed nothing, stderr: hint."],
    ["does not print JSON", () => ok("s3cret"), "did not print JSON."],
    ["prints another kind", () => ok('{"kind":"Token"}'), "did not print an ExecCredential."],
    ["prints white space", () => ok(" \n"), "printed nothing."],
    ["prints a string", () => ok('"ExecCredential"'), "did not print an ExecCredential."],
    [
      "prints no status",
      () => ok(output(null as never)),
      "printed neither a token nor a client certificate.",
    ],
    [
      "prints much to stderr",
      () => ok("", ` ${"x".repeat(401)} `),
      `printed nothing, stderr: …${"x".repeat(400)}.`,
    ],
    [
      "prints 400 characters to stderr",
      () => ok("", "x".repeat(400)),
      `printed nothing, stderr: ${"x".repeat(400)}.`,
    ],
    ["prints null", () => ok("null"), "did not print an ExecCredential."],
    [
      "prints another version",
      () => ok(output({ token: "t" }, v1beta1)),
      `printed apiVersion "${v1beta1}", but the kubeconfig says "${v1}".`,
    ],
    ["prints no credential", () => ok(output({})), "printed neither a token nor a client certificate."],
    [
      "prints a key without a certificate",
      () => ok(output({ clientKeyData: "k" })),
      "printed only one of clientCertificateData and clientKeyData.",
    ],
    [
      "prints an invalid expiry",
      () => ok(output({ token: "t", expirationTimestamp: "soon" })),
      'printed the expirationTimestamp "soon", which is not a date.',
    ],
  ])("%s, and does not quote its stdout", async (_how, program, why) => {
    const error = await failing({}, program);
    expect(error).toMatchObject({ code: "ExecPlugin", message: `Cannot get credentials: ${plugin} ${why}` });
    expect(`${error.stack}${error.cause}`).not.toContain("s3cret");
  });
  it("is not installed, with its install hint", async () => {
    const missing = (): never => {
      throw Object.assign(new Error("spawn aws ENOENT"), { code: "ENOENT" });
    };
    expect((await failing({ installHint: "Get it at example.com\n" }, missing)).message).toBe(
      `Cannot get credentials: ${plugin} is not installed or not in PATH. Get it at example.com`,
    );
  });
  it("is not installed, without a hint if there is none", async () => {
    const cause = Object.assign(new Error("spawn aws ENOENT"), { code: "ENOENT" });
    expect(await failing({}, () => Promise.reject(cause))).toMatchObject({
      code: "ExecPlugin",
      message: `Cannot get credentials: ${plugin} is not installed or not in PATH.`,
      cause,
    });
  });
  it("cannot be started for another reason, without its install hint", async () => {
    const denied = () => Promise.reject(Object.assign(new Error("spawn EACCES"), { code: "EACCES" }));
    expect((await failing({ installHint: "Get it" }, denied)).message).toBe(
      `Cannot get credentials: ${plugin} failed: spawn EACCES.`,
    );
  });
  it("does not exit within a minute", async () => {
    const { platform, load } = await setUp();
    platform.program = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const result = (await load()).headers().catch((error) => error);
    await platform.armed(60_000);
    await platform.clock.pass(60_000);
    expect((await result).message).toBe(
      `Cannot get credentials: ${plugin} failed: it did not exit within 60 s.`,
    );
  });
});

it("an exec plugin that failed runs again at the next request", async () => {
  const { platform, load } = await setUp();
  const credentials = await load();
  platform.program = () => ({ exitCode: 1, stdout: "", stderr: "" });
  await expect(credentials.headers()).rejects.toThrow("exit code 1");
  platform.program = () => ok(output({ token: "t" }));
  expect(await credentials.headers()).toEqual({ authorization: "Bearer t" });
});
