// @ts-check
/** The credentials of the cluster: the admin's token, the service-account keys, the kubeconfig. */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Writes the files that kube-apiserver reads at its start.
 *
 * @param {string} folder
 */
export async function writeCredentials(folder) {
  const adminToken = randomBytes(24).toString("base64url");
  const keys = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const files = {
    tokens: join(folder, "tokens.csv"),
    serviceAccountPublicKey: join(folder, "service-account.pub"),
    serviceAccountPrivateKey: join(folder, "service-account.key"),
  };
  await Promise.all([
    writeFile(files.tokens, `${adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 }),
    writeFile(files.serviceAccountPublicKey, keys.publicKey),
    writeFile(files.serviceAccountPrivateKey, keys.privateKey, { mode: 0o600 }),
  ]);
  return { adminToken, files };
}

/**
 * The CA of the serving certificate that kube-apiserver creates: the last one of the chain that it writes.
 *
 * @param {string} certFolder its --cert-dir
 * @returns {Promise<string | undefined>} undefined until it is written
 */
export async function readServingCa(certFolder) {
  const chain = await readFile(join(certFolder, "apiserver.crt"), "utf8").catch(() => "");
  return chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g)?.at(-1);
}

/**
 * @param {{ server: string, caPem: string, token: string, user: string }} access
 * @returns {string} a kubeconfig with one context
 */
export function kubeconfig({ server, caPem, token, user }) {
  return `apiVersion: v1
kind: Config
current-context: tenure-kube
clusters:
- name: tenure-kube
  cluster:
    server: ${server}
    certificate-authority-data: ${Buffer.from(caPem).toString("base64")}
users:
- name: ${user}
  user:
    token: ${token}
contexts:
- name: tenure-kube
  context:
    cluster: tenure-kube
    user: ${user}
    namespace: default
`;
}
