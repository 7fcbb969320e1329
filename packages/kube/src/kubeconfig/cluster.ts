/**
 * Turns a cluster entry and a user entry of a kubeconfig into a `ClusterConfig`. Paths are relative to the file that contains
 * the entry. Cluster and user may come from different files.
 */
import { dirname, resolve } from "node:path";
import type { ClusterConfig, Credentials } from "../config.ts";
import { type RotatingFile, rotatingFile } from "../credentials/rotating-file.ts";
import { parseServer } from "../http/server-address.ts";
import type { Platform } from "../platform.ts";
import { Fields, isRecord, type Problems } from "./fields.ts";
import type { Entry } from "./merge.ts";
import { credentialsOf } from "./user.ts";

export async function resolveCluster(
  entry: Entry,
  user: Entry | undefined,
  problems: Problems,
  platform: Platform,
): Promise<ClusterConfig> {
  const cluster = new Fields(entry.value, `cluster "${entry.name}"`, problems);
  const server = cluster.string("server") ?? "";
  if (server === "") cluster.problem("it has no server");
  else await cluster.attempt(() => parseServer(server));
  const proxyUrl = cluster.string("proxy-url");
  if (proxyUrl !== undefined) {
    const { parseProxy } = await import("../http/tunnel-agent.ts");
    await cluster.attempt(() => parseProxy(proxyUrl));
  }
  const caFile = authorityFile(cluster, entry, platform);
  const ca = cluster.pemData("certificate-authority-data") ?? (await cluster.attempt(() => caFile?.read()));
  const skipTlsVerify = cluster.boolean("insecure-skip-tls-verify");
  if (skipTlsVerify && (ca !== undefined || caFile !== undefined)) {
    cluster.problem("it has both insecure-skip-tls-verify and a certificate-authority. Remove one of them");
  }
  const tlsServerName = cluster.string("tls-server-name");
  const clusterInfo = (): object => ({
    server,
    ...(tlsServerName && { "tls-server-name": tlsServerName }),
    ...(skipTlsVerify && { "insecure-skip-tls-verify": true }),
    ...(ca && { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(proxyUrl && { "proxy-url": proxyUrl }),
    config: execExtension(cluster),
  });
  const credentials = await credentialsOf(new Fields(user?.value, `user "${user?.name}"`, problems), {
    user: user?.name ?? "",
    platform,
    resolvePath: (path) => resolve(dirname(user?.path ?? "."), path),
    clusterInfo,
  });
  return {
    server,
    ca,
    skipTlsVerify,
    tlsServerName,
    proxyUrl,
    credentials: caFile === undefined ? credentials : withAuthority(credentials, () => caFile.read()),
  };
}

function authorityFile(cluster: Fields, entry: Entry, platform: Platform): RotatingFile | undefined {
  const path = cluster.string("certificate-authority");
  if (path === undefined || cluster.has("certificate-authority-data")) return undefined;
  return rotatingFile({
    path: resolve(dirname(entry.path), path),
    what: "the certificate-authority",
    platform,
  });
}

/** Follows the file of the certificate authority when it rotates. */
function withAuthority(credentials: Credentials, ca: () => Promise<string>): Credentials {
  return { ...credentials, tls: async () => ({ ...(await credentials.tls()), ca: await ca() }) };
}

/** kubectl passes this extension of the cluster to the plugin as `config`. */
function execExtension(cluster: Fields): unknown {
  const extension = cluster
    .list("extensions")
    .find((item) => isRecord(item) && item.name === "client.authentication.k8s.io/exec");
  return isRecord(extension) ? extension.extension : undefined;
}
