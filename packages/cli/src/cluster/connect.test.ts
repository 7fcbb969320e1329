/** Which cluster is found, and the error if there is none. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeProblems } from "@tenure/base";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { type ConnectionFlags, connectionProblems } from "../settings/connection-options.ts";
import { flagOf } from "../settings/problems.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { connect } from "./connect.ts";

let sandbox: Sandbox;
let home: string;

beforeAll(async () => {
  sandbox = await startSandbox();
});
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tenure-connect-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));
afterAll(() => sandbox.close());

/** Writes the file that `tenure sandbox` would write. */
async function writeSandboxKubeconfig(text = sandbox.kubeconfig) {
  await mkdir(join(home, ".tenure"));
  await writeFile(join(home, ".tenure", "sandbox.kubeconfig"), text);
}

/** Connects and asks the server for the user name, to prove that the connection works. */
async function whoAmI(flags: ConnectionFlags, env: Record<string, string> = {}) {
  const { client, namespace } = await connect(flags, fakePlatform("", { home, env }));
  const review = await client.request<{ status: { userInfo: { username: string } } }>({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
  });
  client.close();
  return { user: review.status.userInfo.username, namespace };
}

async function failureOf(flags: ConnectionFlags, env: Record<string, string> = {}) {
  const error = await connect(flags, fakePlatform("", { home, env })).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(CliError);
  return { message: error.message.replaceAll(home, "~"), exitCode: error.exitCode };
}

describe("finds the cluster", () => {
  it("by --kubeconfig, and like kubectl", async () => {
    const file = join(home, "kubeconfig");
    await writeFile(file, sandbox.kubeconfig);
    const admin = { user: expect.stringContaining("admin"), namespace: "default" };
    expect(await whoAmI({ kubeconfig: file })).toEqual(admin);
    expect(await whoAmI({}, { KUBECONFIG: file })).toEqual(admin);
    await mkdir(join(home, ".kube"));
    await writeFile(join(home, ".kube", "config"), sandbox.kubeconfig);
    expect(await whoAmI({})).toEqual(admin);
  });

  it("by the URL of a sandbox on this machine", async () => {
    await writeSandboxKubeconfig();
    expect((await whoAmI({ sandbox: `${sandbox.url}/` })).user).toContain("admin");
  });

  it("by the URL of a sandbox without authentication", async () => {
    const open = await startSandbox({ tls: false, anonymous: true });
    try {
      expect((await whoAmI({ sandbox: open.url })).namespace).toBe("default");
    } finally {
      await open.close();
    }
  });

  it("by the directory of a service account, with the server from the environment or the kubeconfig", async () => {
    const account = await sandbox.serviceAccount("default", "candidate");
    const user = "system:serviceaccount:default:candidate";
    expect((await whoAmI({ sandbox: account.directory }, account.env)).user).toBe(user);
    await writeSandboxKubeconfig();
    expect((await whoAmI({ sandbox: account.directory })).user).toBe(user);
  });
});

describe("the namespace", () => {
  it.each([
    ["from the flag", { namespace: "a" }, { NAMESPACE: "b", POD_NAMESPACE: "c" }, "a"],
    ["from $NAMESPACE", {}, { NAMESPACE: "b", POD_NAMESPACE: "c" }, "b"],
    ["from $POD_NAMESPACE", {}, { NAMESPACE: "", POD_NAMESPACE: "c" }, "c"],
    ["from the context", {}, {}, "from-context"],
  ])("%s", async (_name, flags, env, expected) => {
    const file = join(home, "kubeconfig");
    await writeFile(file, sandbox.kubeconfig.replace("namespace: default", "namespace: from-context"));
    const platform = fakePlatform("", { home, env: env as Record<string, string> });
    expect((await connect({ kubeconfig: file, ...flags }, platform)).namespace).toBe(expected);
  });
});

describe("says what to do if", () => {
  it("there is no cluster", async () => {
    expect(await failureOf({})).toEqual({
      exitCode: 2,
      message:
        "Cannot find a Kubernetes cluster: --kubeconfig and KUBECONFIG are not set, ~/.kube/config does not exist, and this is " +
        "not a pod. To try it without a cluster, run `tenure sandbox` and pass --kubeconfig ~/.tenure/sandbox.kubeconfig",
    });
  });

  it("a sandbox wrote its kubeconfig, which is not used by default", async () => {
    await writeSandboxKubeconfig();
    expect((await failureOf({})).message).toContain(
      "A sandbox wrote ~/.tenure/sandbox.kubeconfig. If it still runs, pass --kubeconfig ~/.tenure/sandbox.kubeconfig; if not, start one with `tenure sandbox`",
    );
  });

  it("the kubeconfig does not exist", async () => {
    const { exitCode, message } = await failureOf({ kubeconfig: "/not/there" });
    expect(exitCode).toBe(2);
    expect(message).toContain("/not/there");
  });

  it("a sandbox cannot be trusted", async () => {
    expect((await failureOf({ sandbox: "https://127.0.0.1:1" })).message).toBe(
      "Cannot trust the sandbox at https://127.0.0.1:1: ~/.tenure/sandbox.kubeconfig does not exist. Pass the kubeconfig that the sandbox wrote with --kubeconfig",
    );
    await writeSandboxKubeconfig();
    expect((await failureOf({ sandbox: "https://127.0.0.1:1" })).message).toContain(
      `belongs to another sandbox, at ${sandbox.url}.`,
    );
  });

  it("--sandbox is neither a URL nor a directory", async () => {
    expect((await failureOf({ sandbox: "banana" })).message).toContain(
      "Cannot use --sandbox banana: it is neither a URL nor a directory with a token file.",
    );
  });

  it("the server of a directory is not known", async () => {
    const { directory } = await sandbox.serviceAccount("default", "candidate");
    expect((await failureOf({ sandbox: directory })).message).toContain(
      "set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT",
    );
  });

  it("two clusters are given", () => {
    const problems = connectionProblems({ sandbox: "x", kubeconfig: "y", context: "z" });
    expect(describeProblems(problems, flagOf)).toEqual([
      "--sandbox cannot be combined with --kubeconfig; leave one of them out",
      "--sandbox cannot be combined with --context; leave one of them out",
    ]);
  });
});
