import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemPlatform } from "../platform.ts";
import { newAuthority, newClientCertificate, newServerCertificate } from "./certificate.ts";

const authority = newAuthority("test-ca", systemPlatform);
const read = (pem: string) => new X509Certificate(pem);

test("the CA is a CA, and has signed the certificates that it issued", () => {
  const ca = read(authority.certificatePem);
  expect(ca.ca).toBe(true);
  expect(ca.verify(ca.publicKey)).toBe(true);
  const server = read(newServerCertificate(authority, ["localhost"], systemPlatform).certificatePem);
  expect(server.ca).toBe(false);
  expect(server.checkIssued(ca)).toBe(true);
  expect(server.verify(ca.publicKey)).toBe(true);
});

test("a server certificate is valid only for its names and addresses", () => {
  const hosts = ["localhost", "sandbox.example", "127.0.0.1", "::1", "fd00::12:34"];
  const { certificatePem } = newServerCertificate(authority, hosts, systemPlatform);
  const server = read(certificatePem);
  expect(server.checkHost("sandbox.example")).toBe("sandbox.example");
  expect(server.checkHost("other.example")).toBeUndefined();
  for (const address of ["127.0.0.1", "::1", "fd00::12:34"]) expect(server.checkIP(address)).toBe(address);
  expect(server.checkIP("127.0.0.2")).toBeUndefined();
});

test("users and groups of any length and language are preserved", () => {
  const name = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
    .filter((text) => !/[\n\\+,=";<>#]|^\s|\s$|\p{Cc}/u.test(text));
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 30 }), (commonName, organizations) => {
      const { certificatePem } = newClientCertificate(
        authority,
        { commonName, organizations },
        systemPlatform,
      );
      const lines = read(certificatePem).subject.split("\n");
      expect(lines).toEqual([...organizations.map((group) => `O=${group}`), `CN=${commonName}`]);
    }),
    { numRuns: 30 },
  );
});

test("the CA is valid now, and for more than nine years", () => {
  const { validFrom, validTo } = read(authority.certificatePem);
  expect(Date.parse(validFrom)).toBeLessThan(systemPlatform.clock.now().wallMs);
  expect(Date.parse(validTo) - systemPlatform.clock.now().wallMs).toBeGreaterThan(9 * 365 * 24 * 3600 * 1000);
});
