import type { PeerCertificate, TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { KubeClient } from "../client.ts";
import type { ClusterConfig, TlsMaterial } from "../config.ts";
import { ApiServer, closed, type Seen, sendJson } from "../testing/api-server.ts";
import * as pem from "../testing/certificates.ts";
import { fixedCredentials } from "../testing/fake-platform.ts";

const ownTls = { cert: pem.serverCert, key: pem.serverKey };
const namedTls = { cert: pem.namedCert, key: pem.namedKey };
const mutualTls = { ...ownTls, ca: pem.authority, requestCert: true, rejectUnauthorized: true };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const whoAmI = (seen: Seen): void => {
  const peer = (seen.socket as TLSSocket).getPeerCertificate?.() as PeerCertificate | undefined;
  sendJson(seen, 200, { name: peer?.subject?.CN ?? "nobody" });
};

async function ask(tls: object, config: Partial<ClusterConfig>): Promise<unknown> {
  const server = await ApiServer.start(whoAmI, tls);
  const client = new KubeClient({ server: server.url, credentials: fixedCredentials(), ...config });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  return client.request({ method: "GET", path: "/version" });
}

const withCert = (material: TlsMaterial) => ({ ...fixedCredentials(), tls: async () => material });

describe("TLS", () => {
  it("trusts the configured authority", async () => {
    expect(await ask(ownTls, { ca: pem.authority })).toEqual({ name: "nobody" });
  });
  it("prefers the authority from the credentials", async () => {
    const credentials = withCert({ ca: pem.authority });
    expect(await ask(ownTls, { ca: pem.otherAuthority, credentials })).toEqual({ name: "nobody" });
  });
  it.each([
    ["without a configured authority", undefined],
    ["with another authority", pem.otherAuthority],
  ])("rejects the server %s, and says what to set", async (_why, ca) => {
    await expect(ask(ownTls, { ca })).rejects.toMatchObject({
      code: "Tls",
      message: expect.stringContaining("Set certificate-authority"),
    });
  });
  it("rejects a certificate for another name, and says what to set", async () => {
    await expect(ask(namedTls, { ca: pem.authority })).rejects.toMatchObject({
      code: "Tls",
      message: expect.stringContaining("Set tls-server-name"),
    });
  });
  it("verifies the name in tls-server-name", async () => {
    expect(await ask(namedTls, { ca: pem.authority, tlsServerName: "api.tenure.test" })).toEqual({
      name: "nobody",
    });
  });
  it("verifies nothing with insecure-skip-tls-verify", async () => {
    expect(await ask(namedTls, { skipTlsVerify: true })).toEqual({ name: "nobody" });
  });
  it("sends the client certificate", async () => {
    const credentials = withCert({ cert: pem.clientCert, key: pem.clientKey });
    expect(await ask(mutualTls, { ca: pem.authority, credentials })).toEqual({ name: "alice" });
  });
  it("fails without a client certificate if the server requires one", async () => {
    await expect(ask(mutualTls, { ca: pem.authority })).rejects.toMatchObject({
      code: expect.stringMatching(/^(Tls|Unreachable)$/),
    });
  });
  it("reports a key that does not match its certificate", async () => {
    const credentials = withCert({ cert: pem.clientCert, key: pem.serverKey });
    await expect(ask(mutualTls, { ca: pem.authority, credentials })).rejects.toMatchObject({
      code: "Tls",
      message: expect.stringContaining("Check the certificates and the key"),
    });
  });
  it("reports a server that does not speak TLS", async () => {
    const server = await ApiServer.start(whoAmI);
    cleanups.push(() => server.close());
    const client = new KubeClient({
      server: server.url.replace("http:", "https:"),
      credentials: fixedCredentials(),
    });
    cleanups.push(() => client.close());
    await expect(client.request({ method: "GET", path: "/version" })).rejects.toMatchObject({
      code: "Tls",
      message: expect.stringContaining("does not speak TLS"),
    });
  });
  it("opens new connections when the client certificate changes", async () => {
    const server = await ApiServer.start(whoAmI, { ...mutualTls, rejectUnauthorized: false });
    let material: TlsMaterial = {};
    const credentials = { ...fixedCredentials(), tls: async () => material };
    const client = new KubeClient({ server: server.url, ca: pem.authority, credentials });
    cleanups.push(
      () => server.close(),
      () => client.close(),
    );
    const request = { method: "GET", path: "/version" } as const;
    expect(await client.request(request)).toEqual({ name: "nobody" });
    material = { cert: pem.clientCert, key: pem.clientKey };
    expect(await client.request(request)).toEqual({ name: "alice" });
    expect(await client.request(request)).toEqual({ name: "alice" });
    expect(server.connections).toBe(2);
    await closed((await server.requests(1)).socket);
  });
});
