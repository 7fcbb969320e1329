import { describe, expect, it } from "vitest";
import { loadConfig } from "./load-config.ts";
import { FakePlatform } from "./testing/fake-platform.ts";

const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

const kubeconfig = (server: string): string => `
clusters: [{name: c, cluster: {server: "https://${server}"}}]
contexts: [{name: x, context: {cluster: c, namespace: ns-${server}}}]
current-context: x
`;

/** A machine with every source, so that the order matters. */
function everything(): FakePlatform {
  const platform = new FakePlatform();
  platform.env = {
    KUBECONFIG: "/env",
    KUBERNETES_SERVICE_HOST: "pod",
    KUBERNETES_SERVICE_PORT: "443",
    HOME: "/home/me",
  };
  platform.files.set("/explicit", kubeconfig("explicit"));
  platform.files.set("/env", kubeconfig("env"));
  platform.files.set("/home/me/.kube/config", kubeconfig("home"));
  platform.files.set(`${serviceAccount}/token`, "t");
  return platform;
}

describe("loadConfig uses", () => {
  it("the kubeconfig option first", async () => {
    const config = await loadConfig({ kubeconfig: "/explicit", platform: everything() });
    expect(config).toMatchObject({ server: "https://explicit", namespace: "ns-explicit" });
  });
  it("then $KUBECONFIG", async () => {
    expect((await loadConfig({ platform: everything() })).server).toBe("https://env");
  });
  it("then the service account of the pod", async () => {
    const platform = everything();
    platform.env.KUBECONFIG = "";
    expect((await loadConfig({ platform })).server).toBe("https://pod:443");
  });
  it("then ~/.kube/config", async () => {
    const platform = everything();
    platform.env = { HOME: "/home/me" };
    expect((await loadConfig({ platform })).server).toBe("https://home");
  });
  it("the folder in USERPROFILE if there is no HOME, as on Windows", async () => {
    const platform = everything();
    platform.env = { USERPROFILE: "/home/me" };
    expect((await loadConfig({ platform })).server).toBe("https://home");
  });
  it("the pod before $KUBECONFIG with inCluster: true, and never with false", async () => {
    const platform = everything();
    expect((await loadConfig({ platform, inCluster: true })).server).toBe("https://pod:443");
    platform.env.KUBECONFIG = undefined;
    expect((await loadConfig({ platform, inCluster: false })).server).toBe("https://home");
  });
});

describe("loadConfig does not fall back silently", () => {
  it("from the kubeconfig option", async () => {
    await expect(loadConfig({ kubeconfig: "/missing", platform: everything() })).rejects.toMatchObject({
      code: "BadConfig",
      message:
        "Cannot read the kubeconfig /missing: it does not exist. Pass another kubeconfig, or omit it and set KUBECONFIG.",
    });
  });
  it("from $KUBECONFIG", async () => {
    const platform = everything();
    platform.env.KUBECONFIG = "/missing:/gone";
    await expect(loadConfig({ platform })).rejects.toThrow(
      "Cannot read the kubeconfig /missing: it does not exist. Correct or unset KUBECONFIG, or pass kubeconfig.",
    );
  });
  it("from an invalid ~/.kube/config", async () => {
    const platform = everything();
    platform.env = { HOME: "/home/me" };
    platform.files.set("/home/me/.kube/config", "a: b: c");
    await expect(loadConfig({ platform })).rejects.toThrow(
      "Cannot use the kubeconfig /home/me/.kube/config: it is not valid YAML",
    );
  });
  it("from a context, when there is only a service account", async () => {
    const platform = everything();
    platform.env.KUBECONFIG = undefined;
    await expect(loadConfig({ platform, context: "x" })).rejects.toThrow(
      'Cannot use the context "x": a service account has no contexts.',
    );
  });
  it("when both kubeconfig and inCluster are set", async () => {
    await expect(
      loadConfig({ platform: everything(), kubeconfig: "/explicit", inCluster: true }),
    ).rejects.toThrow("Cannot use both the kubeconfig /explicit and inCluster: true.");
  });
});

it.each([
  [{ HOME: "/home/me" }, "/home/me/.kube/config"],
  [{}, "~/.kube/config"],
])("loadConfig lists every source when it finds none (env %o)", async (env, standard) => {
  const platform = new FakePlatform();
  platform.env = env;
  await expect(loadConfig({ platform })).rejects.toMatchObject({
    code: "NoConfig",
    message:
      `Cannot find a Kubernetes cluster: KUBECONFIG is not set, ${standard} does not exist, and this is not a pod ` +
      "(KUBERNETES_SERVICE_HOST is not set). Pass kubeconfig, set KUBECONFIG, or run in a pod with a service account.",
  });
});
