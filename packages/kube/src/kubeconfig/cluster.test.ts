import { describe, expect, it } from "vitest";
import { authority } from "../testing/certificates.ts";
import { base64, kubeconfig, loadText } from "../testing/kubeconfigs.ts";

describe("a cluster entry", () => {
  it("provides server, TLS server name, proxy and namespace", async () => {
    const { config } = await loadText(
      kubeconfig({
        cluster:
          "server: https://api:6443, tls-server-name: inner, proxy-url: http://proxy:3128, insecure-skip-tls-verify: true",
        context: ", namespace: prod",
      }),
    );
    expect(config).toMatchObject({
      server: "https://api:6443",
      tlsServerName: "inner",
      proxyUrl: "http://proxy:3128",
      skipTlsVerify: true,
      namespace: "prod",
    });
  });
  it("prefers certificate-authority-data to the file", async () => {
    const cluster = `server: https://api, certificate-authority-data: ${base64(authority)}, certificate-authority: nowhere`;
    const { config } = await loadText(kubeconfig({ cluster }));
    expect(config.ca).toBe(authority);
    expect(await config.credentials.tls()).toEqual({});
  });
  it("reads the authority from a file next to the kubeconfig, and again when it changes", async () => {
    const { config, platform } = await loadText(
      kubeconfig({ cluster: "server: https://api, certificate-authority: pki/ca.crt" }),
      {
        files: { "/dir/pki/ca.crt": "PEM" },
      },
    );
    expect(config.ca).toBe("PEM");
    platform.files.set("/dir/pki/ca.crt", "PEM2");
    await platform.clock.pass(60_000);
    await config.credentials.tls();
    await new Promise(setImmediate);
    expect((await config.credentials.tls()).ca).toBe("PEM2");
  });
  it("keeps the client certificate of the user next to an authority from a file", async () => {
    const { config } = await loadText(
      kubeconfig({
        cluster: "server: https://api, certificate-authority: ca.crt",
        user: "client-certificate: c.pem, client-key: k.pem",
      }),
      { files: { "/dir/ca.crt": "PEM", "/dir/c.pem": "CERT", "/dir/k.pem": "KEY" } },
    );
    expect(await config.credentials.tls()).toEqual({ ca: "PEM", cert: "CERT", key: "KEY" });
  });
  it.each([
    ["server: http://10.0.0.1", "http:// would send credentials unencrypted"],
    ["server: https://api, proxy-url: socks5://p", "socks5 is not supported"],
    [
      "server: https://api, certificate-authority: nope",
      "Cannot read the certificate-authority from /dir/nope: it does not exist",
    ],
    [
      "server: https://api, certificate-authority-data: bm90IGEgcGVt",
      "certificate-authority-data is not a PEM in base64",
    ],
    ["server: https://api, insecure-skip-tls-verify: yes", "insecure-skip-tls-verify must be true or false"],
    [
      `server: https://api, insecure-skip-tls-verify: true, certificate-authority-data: ${base64(authority)}`,
      "it has both insecure-skip-tls-verify and a certificate-authority",
    ],
    [
      "server: https://api, insecure-skip-tls-verify: true, certificate-authority: nope",
      "it has both insecure-skip-tls-verify and a certificate-authority",
    ],
    ["server: 5", "server must be a string; put it in quotes"],
    ["", "it has no server"],
  ])("{%s} is rejected", async (cluster, why) => {
    await expect(loadText(kubeconfig({ cluster }))).rejects.toThrow(
      `Cannot use the kubeconfig /dir/config: cluster "c": `,
    );
    await expect(loadText(kubeconfig({ cluster }))).rejects.toThrow(why);
  });
});
