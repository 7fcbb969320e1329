import { describe, expect, it } from "vitest";
import { clientCert, clientKey } from "../testing/certificates.ts";
import { base64, kubeconfig, loadText } from "../testing/kubeconfigs.ts";

describe("a user entry", () => {
  it("sends a token", async () => {
    expect(await (await loadText(kubeconfig())).headers()).toEqual({ authorization: "Bearer t" });
  });
  it("prefers tokenFile to token, and reads it again after a 401", async () => {
    const { headers, platform, config } = await loadText(kubeconfig({ user: "token: t, tokenFile: token" }), {
      files: { "/dir/token": "from-file" },
    });
    expect(await headers()).toEqual({ authorization: "Bearer from-file" });
    platform.files.set("/dir/token", "renewed");
    await config.credentials.refresh();
    expect(await headers()).toEqual({ authorization: "Bearer renewed" });
  });
  it("sends a username and a password", async () => {
    const { headers } = await loadText(kubeconfig({ user: "username: me, password: 'p:w'" }));
    expect(await headers()).toEqual({ authorization: `Basic ${base64("me:p:w")}` });
  });
  it("sends a username without a password", async () => {
    const { headers } = await loadText(kubeconfig({ user: "username: me" }));
    expect(await headers()).toEqual({ authorization: `Basic ${base64("me:")}` });
  });
  it.each([
    "token: t, tokenFile: f",
    "client-certificate: f, client-key: g",
    "client-certificate: g, client-key: f",
  ])("of {%s} reports a file that can no longer be read", async (user) => {
    const { config, platform } = await loadText(kubeconfig({ user }), {
      files: { "/dir/f": "F", "/dir/g": "G" },
    });
    const { credentials } = config;
    expect(credentials.problem?.()).toBeUndefined();
    platform.files.delete("/dir/f");
    await credentials.refresh();
    await Promise.all([credentials.headers(), credentials.tls()]);
    expect(credentials.problem?.()).toContain("again from /dir/f: it does not exist");
  });
  it("without files has no problem", async () => {
    expect((await loadText(kubeconfig())).config.credentials.problem?.()).toBeUndefined();
  });
  it("sends only the impersonation that is set", async () => {
    const { headers } = await loadText(kubeconfig({ user: "token: t, as: bob" }));
    expect(await headers()).toEqual({ authorization: "Bearer t", "impersonate-user": "bob" });
  });
  it("provides a client certificate from data", async () => {
    const user = `client-certificate-data: ${base64(clientCert)}, client-key-data: ${base64(clientKey)}`;
    const { config, headers } = await loadText(kubeconfig({ user }));
    expect(await config.credentials.tls()).toEqual({ cert: clientCert, key: clientKey });
    expect(await headers()).toEqual({});
  });
  it("provides a client certificate from files", async () => {
    const { config } = await loadText(
      kubeconfig({ user: "client-certificate: c.pem, client-key: /abs/k.pem" }),
      {
        files: { "/dir/c.pem": "CERT", "/abs/k.pem": "KEY" },
      },
    );
    expect(await config.credentials.tls()).toEqual({ cert: "CERT", key: "KEY" });
  });
  it("sends impersonation headers", async () => {
    const { headers } = await loadText(
      kubeconfig({ user: "token: t, as: bob, as-uid: '7', as-groups: [dev, ops]" }),
    );
    expect(await headers()).toEqual({
      authorization: "Bearer t",
      "impersonate-user": "bob",
      "impersonate-uid": "7",
      "impersonate-group": ["dev", "ops"],
    });
  });
  it("sends nothing if it is empty or missing", async () => {
    expect(await (await loadText(kubeconfig({ user: "" }))).headers()).toEqual({});
    const text =
      "clusters: [{name: c, cluster: {server: 'https://api'}}]\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x";
    expect(await (await loadText(text)).headers()).toEqual({});
  });
  it.each([
    [
      "auth-provider: {name: gcp}",
      "Unsupported",
      'user "u": auth-provider "gcp" is not supported, because Kubernetes has removed it. Use an exec plugin such as gke-gcloud-auth-plugin, a token',
    ],
    ["auth-provider: {name: azure}", "Unsupported", "such as kubelogin"],
    ["auth-provider: {name: oidc}", "Unsupported", "such as kubectl oidc-login"],
    ["auth-provider: {name: mine}", "Unsupported", "Use an exec plugin, a token or a client certificate"],
    ["token: t, as: bob, as-user-extra: {a: [b]}", "Unsupported", "as-user-extra is not supported"],
    ["token: t, as-groups: [a]", "BadConfig", "as-groups and as-uid require as"],
    ["token: 123", "BadConfig", 'user "u": token must be a string; put it in quotes'],
    ["tokenFile: nope", "BadConfig", "Cannot read the token from /dir/nope: it does not exist"],
    [
      "client-certificate: nope, client-key: nope",
      "BadConfig",
      "Cannot read the client-certificate from /dir/nope",
    ],
    [
      `client-certificate-data: ${base64(clientCert)}`,
      "BadConfig",
      "it has a client-certificate but no client-key",
    ],
    [`client-key-data: ${base64(clientKey)}`, "BadConfig", "it has a client-key but no client-certificate"],
    ["token: t, as-uid: '7'", "BadConfig", "as-groups and as-uid require as"],
    ["auth-provider: {}", "Unsupported", 'user "u": auth-provider "" is not supported'],
    ["exec: {}", "BadConfig", 'user "u": exec: command is missing'],
    [
      "exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: a}]}",
      "BadConfig",
      "every item of env must have a name and a value",
    ],
    [
      "exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [null]}",
      "BadConfig",
      "every item of env must have a name and a value",
    ],
    [
      "exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, args: [1]}",
      "BadConfig",
      "every item of args must be a string",
    ],
    ["exec: {command: p}", "Unsupported", 'its apiVersion is ""'],
    [
      "exec: {command: p, apiVersion: client.authentication.k8s.io/v1alpha1}",
      "Unsupported",
      'its apiVersion is "client.authentication.k8s.io/v1alpha1"',
    ],
    [
      "exec: {command: p, apiVersion: client.authentication.k8s.io/v1}",
      "BadConfig",
      "its interactiveMode is missing",
    ],
    [
      "exec: {command: p, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}",
      "Unsupported",
      "there is no terminal",
    ],
  ])("{%s} is rejected", async (user, code, why) => {
    await expect(loadText(kubeconfig({ user }))).rejects.toMatchObject({
      code,
      message: expect.stringContaining(why),
    });
  });
});
