import { describe, expect, it } from "vitest";
import { loadConfig } from "../load-config.ts";
import { FakePlatform } from "../testing/fake-platform.ts";
import { kubeconfig } from "../testing/kubeconfigs.ts";

describe("$KUBECONFIG with several files", () => {
  const merged = async (files: Record<string, string>, list = Object.keys(files).join(":")) => {
    const platform = new FakePlatform();
    for (const [path, content] of Object.entries(files)) platform.files.set(path, content);
    platform.env = { KUBECONFIG: list };
    return { config: await loadConfig({ platform }), platform };
  };
  const other = `
clusters: [{name: c, cluster: {server: "https://second", tls-server-name: second}}, {name: d, cluster: {server: "https://d"}}]
users: [{name: u, user: {token: second}}]
contexts: [{name: y, context: {cluster: d, user: u}}]
current-context: y
`;
  it("uses whole entries of the first file, and adds entries that it does not have", async () => {
    const { config } = await merged({ "/1": kubeconfig(), "/2": other });
    expect(config).toMatchObject({ server: "https://api", tlsServerName: undefined });
    expect(await config.credentials.headers()).toEqual({ authorization: "Bearer t" });
    const { config: reversed } = await merged({ "/2": other, "/1": kubeconfig() });
    expect(reversed.server).toBe("https://d");
    expect(await reversed.credentials.headers()).toEqual({ authorization: "Bearer second" });
  });
  it("can use a context from one file and a cluster from another", async () => {
    const { config } = await merged({ "/1": "current-context: y", "/2": other });
    expect(config.server).toBe("https://d");
  });
  it("ignores missing and empty files if at least one is usable", async () => {
    const { config } = await merged({ "/1": "", "/2": kubeconfig() }, "/0::/1:/2:/3");
    expect(config.server).toBe("https://api");
  });
  it("rejects an invalid file", async () => {
    await expect(merged({ "/1": kubeconfig(), "/2": "a: b: c" })).rejects.toThrow(
      "Cannot use the kubeconfig /2: it is not valid YAML",
    );
  });
  it("resolves paths relative to the file of each entry", async () => {
    const { config } = await merged(
      {
        "/one/config": kubeconfig({ cluster: "server: https://api, certificate-authority: ca" }).replace(
          "users:",
          "unused:",
        ),
        "/two/config": "users: [{name: u, user: {tokenFile: token}}]",
        "/one/ca": "PEM",
        "/two/token": "two",
      },
      "/one/config:/two/config",
    );
    expect(config.ca).toBe("PEM");
    expect(await config.credentials.headers()).toEqual({ authorization: "Bearer two" });
  });
});
