/**
 * X.509 certificates for the CA of the sandbox, its server and its clients. Keys are ECDSA P-256, because generating
 * one takes a millisecond. docs/adr/0004 says why this is not a library.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, X509Certificate } from "node:crypto";
import { isIPv4, SocketAddress } from "node:net";
import type { Platform } from "../platform.ts";
import * as der from "./der.ts";

export interface KeyAndCertificate {
  keyPem: string;
  certificatePem: string;
}

interface Subject {
  commonName: string;
  organizations?: string[];
}

const yearMs = 365 * 24 * 3600 * 1000;
/** Certificates are backdated, so that they are valid for clients whose clock is behind. */
const backdateMs = 24 * 3600 * 1000;
const ecdsaSha256 = der.sequence(der.oid("1.2.840.10045.4.3.2"));

export function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

export function newAuthority(commonName: string, platform: Platform): KeyAndCertificate {
  const keyPem = newKeyPem();
  const extensions = [
    extension("2.5.29.19", true, der.sequence(der.boolean(true))),
    // digitalSignature, keyCertSign, cRLSign
    extension("2.5.29.15", true, der.bits(Buffer.from([0b10000110]), 1)),
  ];
  const subject = { commonName };
  return {
    keyPem,
    certificatePem: certificate({
      subject,
      keyPem,
      issuer: subject,
      issuerKeyPem: keyPem,
      extensions,
      platform,
    }),
  };
}

/** A server certificate for these host names and addresses. */
export function newServerCertificate(
  authority: KeyAndCertificate,
  hosts: string[],
  platform: Platform,
): KeyAndCertificate {
  const names = hosts.map((host) =>
    isAddress(host) ? der.implicit(7, addressBytes(host)) : der.implicit(2, Buffer.from(host)),
  );
  return newLeaf(authority, { commonName: "tenure-sandbox" }, "1.3.6.1.5.5.7.3.1", platform, [
    extension("2.5.29.17", false, der.sequence(...names)),
  ]);
}

/** A client certificate: the common name is the user, the organizations are the groups. */
export function newClientCertificate(
  authority: KeyAndCertificate,
  subject: Subject,
  platform: Platform,
): KeyAndCertificate {
  return newLeaf(authority, subject, "1.3.6.1.5.5.7.3.2", platform, []);
}

function newLeaf(
  authority: KeyAndCertificate,
  subject: Subject,
  usage: string,
  platform: Platform,
  more: Buffer[],
): KeyAndCertificate {
  const keyPem = newKeyPem();
  const extensions = [
    extension("2.5.29.19", true, der.sequence()),
    // digitalSignature
    extension("2.5.29.15", true, der.bits(Buffer.from([0b10000000]), 7)),
    extension("2.5.29.37", false, der.sequence(der.oid(usage))),
    ...more,
  ];
  const issuer = { commonName: new X509Certificate(authority.certificatePem).subject.replace(/^CN=/, "") };
  const issuerKeyPem = authority.keyPem;
  return {
    keyPem,
    certificatePem: certificate({ subject, keyPem, issuer, issuerKeyPem, extensions, platform }),
  };
}

interface CertificateRequest {
  subject: Subject;
  keyPem: string;
  issuer: Subject;
  issuerKeyPem: string;
  extensions: Buffer[];
  platform: Platform;
}

function certificate({
  subject,
  keyPem,
  issuer,
  issuerKeyPem,
  extensions,
  platform,
}: CertificateRequest): string {
  const serial = platform.randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40;
  const now = platform.clock.now().wallMs;
  const body = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2]))),
    der.integer(serial),
    ecdsaSha256,
    distinguishedName(issuer),
    der.sequence(der.time(now - backdateMs), der.time(now + 10 * yearMs)),
    distinguishedName(subject),
    createPublicKey(keyPem).export({ type: "spki", format: "der" }),
    der.tagged(3, der.sequence(...extensions)),
  );
  const signature = sign("sha256", body, createPrivateKey(issuerKeyPem));
  const text = der.sequence(body, ecdsaSha256, der.bits(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName({ commonName, organizations = [] }: Subject): Buffer {
  const attribute = (type: string, value: string) => der.set(der.sequence(der.oid(type), der.utf8(value)));
  return der.sequence(
    ...organizations.map((name) => attribute("2.5.4.10", name)),
    attribute("2.5.4.3", commonName),
  );
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octets(value));
}

const isAddress = (host: string) => isIPv4(host) || isIPv6(host);

/** Like isIPv6 of Node, but without its long pattern, which V8 would compile at every start for more than three milliseconds. */
function isIPv6(host: string): boolean {
  if (!host.includes(":")) return false;
  try {
    return new SocketAddress({ address: host, family: "ipv6" }) !== undefined;
  } catch {
    return false;
  }
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const words = (text: string) => text.split(":").filter(Boolean);
  const missing = 8 - words(head).length - words(tail).length;
  const all = [
    ...words(head),
    ...Array<string>(address.includes("::") ? missing : 0).fill("0"),
    ...words(tail),
  ];
  return Buffer.from(all.map((word) => word.padStart(4, "0")).join(""), "hex");
}
