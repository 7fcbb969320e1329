/** Which cluster is found, and what is said when there is none. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CliError } from "../errors.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { type ConnectionFlags, connect, connectionProblems } from "./connection.ts";

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

/** What `tenure sandbox` leaves for others to find. */
async function leaveKubeconfig(text = sandbox.kubeconfig) {
  await mkdir(join(home, ".tenure"));
  await writeFile(join(home, ".tenure", "sandbox.kubeconfig"), text);
}

/** Connects and asks the server who we are, so that it is known to work. */
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

async function refusal(flags: ConnectionFlags, env: Record<string, string> = {}) {
  const error = await connect(flags, fakePlatform("", { home, env })).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(CliError);
  return { message: error.message.replaceAll(home, "~"), exitCode: error.exitCode };
}

describe("finds the cluster", () => {
  it("by --kubeconfig, and by what kubectl would take", async () => {
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
    await leaveKubeconfig();
    expect((await whoAmI({ sandbox: `${sandbox.url}/` })).user).toContain("admin");
  });

  it("by the URL of a sandbox that lets everybody in", async () => {
    const open = await startSandbox({ tls: false, anonymous: true });
    try {
      expect((await whoAmI({ sandbox: open.url })).namespace).toBe("default");
    } finally {
      await open.close();
    }
  });

  it("by the directory of a service account, where the environment or the kubeconfig says where the server is", async () => {
    const account = await sandbox.serviceAccount("default", "candidate");
    const user = "system:serviceaccount:default:candidate";
    expect((await whoAmI({ sandbox: account.directory }, account.env)).user).toBe(user);
    await leaveKubeconfig();
    expect((await whoAmI({ sandbox: account.directory })).user).toBe(user);
  });
});

describe("the namespace", () => {
  it.each([
    ["of the flag", { namespace: "a" }, { NAMESPACE: "b", POD_NAMESPACE: "c" }, "a"],
    ["of $NAMESPACE", {}, { NAMESPACE: "b", POD_NAMESPACE: "c" }, "b"],
    ["of $POD_NAMESPACE", {}, { NAMESPACE: "", POD_NAMESPACE: "c" }, "c"],
    ["of the context", {}, {}, "from-context"],
  ])("%s", async (_name, flags, env, expected) => {
    const file = join(home, "kubeconfig");
    await writeFile(file, sandbox.kubeconfig.replace("namespace: default", "namespace: from-context"));
    const platform = fakePlatform("", { home, env: env as Record<string, string> });
    expect((await connect({ kubeconfig: file, ...flags }, platform)).namespace).toBe(expected);
  });
});

describe("says what to do", () => {
  it("where there is no cluster at all", async () => {
    expect(await refusal({})).toEqual({
      exitCode: 2,
      message:
        "Cannot find a Kubernetes cluster: there is no --kubeconfig, KUBECONFIG is not set, ~/.kube/config does not exist, " +
        "and this is not a pod. No cluster at hand? Start one with `tenure sandbox` and pass --kubeconfig ~/.tenure/sandbox.kubeconfig",
    });
  });

  it("where a sandbox left its kubeconfig, which is not taken unasked", async () => {
    await leaveKubeconfig();
    expect((await refusal({})).message).toContain(
      "A sandbox wrote ~/.tenure/sandbox.kubeconfig: if it still runs, pass --kubeconfig ~/.tenure/sandbox.kubeconfig; else start one with `tenure sandbox`",
    );
  });

  it("where the kubeconfig is not there", async () => {
    const { exitCode, message } = await refusal({ kubeconfig: "/not/there" });
    expect(exitCode).toBe(2);
    expect(message).toContain("/not/there");
  });

  it("where a sandbox cannot be trusted", async () => {
    expect((await refusal({ sandbox: "https://127.0.0.1:1" })).message).toBe(
      "Cannot trust the sandbox at https://127.0.0.1:1: ~/.tenure/sandbox.kubeconfig is not there. Pass the kubeconfig that it wrote, with --kubeconfig",
    );
    await leaveKubeconfig();
    expect((await refusal({ sandbox: "https://127.0.0.1:1" })).message).toContain(
      `is of another one, at ${sandbox.url}.`,
    );
  });

  it("where --sandbox is neither", async () => {
    expect((await refusal({ sandbox: "banana" })).message).toContain(
      "Cannot use --sandbox banana: it is no URL, and no directory with a file token in it.",
    );
  });

  it("where nothing says where the server of a directory is", async () => {
    const { directory } = await sandbox.serviceAccount("default", "candidate");
    expect((await refusal({ sandbox: directory })).message).toContain(
      "set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT",
    );
  });

  it("where two clusters are named", () => {
    expect(connectionProblems({ sandbox: "x", kubeconfig: "y", context: "z" })).toEqual([
      "--sandbox and --kubeconfig exclude each other: leave one of them out",
      "--sandbox and --context exclude each other: leave one of them out",
    ]);
  });
});
