/** Runs a sandbox until a signal stops it. */
import { join } from "node:path";
import { messageOf, type Problem } from "@tenure/base";
import { openEtcdStore, SandboxError, type Store, startSandbox } from "@tenure/sandbox";
import { CliError } from "../../errors.ts";
import { defaultKubeconfigPath, type Platform } from "../../platform.ts";
import { exclusive, flagOf, rejectProblems } from "../../settings/problems.ts";
import { firstSignal, onceAborted } from "../../signals.ts";
import { imageProblems, parseImages } from "./components/images.ts";
import type { SandboxFlags } from "./declare.ts";

export async function runSandbox(flags: SandboxFlags, platform: Platform): Promise<void> {
  rejectProblems(clusterProblems(flags));
  let received: NodeJS.Signals | undefined;
  const source = {
    backgroundClock: platform.backgroundClock,
    onSignal: (signal: NodeJS.Signals, listener: () => void) =>
      platform.onSignal(signal, () => {
        received ??= signal;
        listener();
      }),
  };
  const shutdown = firstSignal(source);
  const sandbox = await start(flags, platform);
  const kubeconfig = flags.kubeconfigOut ?? defaultKubeconfigPath(platform);
  try {
    await sandbox.writeKubeconfig(kubeconfig);
  } catch (error) {
    await sandbox.close();
    const why = messageOf(error);
    throw new CliError(
      "Failed",
      `Cannot write the kubeconfig to ${kubeconfig}: ${why}; choose another file with --kubeconfig-out`,
    );
  }
  const components = await startCluster(flags, kubeconfig, sandbox, platform);
  const json = (flags.logFormat ?? (platform.isTerminal ? "text" : "json")) === "json";
  if (json)
    platform.out(`${JSON.stringify({ event: "ready", url: sandbox.url, kubeconfig, pid: platform.pid })}\n`);
  else platform.out(banner(sandbox.url, kubeconfig, flags));
  await onceAborted(shutdown.signal);
  await components?.stop();
  await sandbox.close();
  if (json) platform.out(`${JSON.stringify({ event: "stopped", signal: received })}\n`);
}

function clusterProblems({ nodes, controllers, scheduler, image, isolation }: SandboxFlags): Problem[] {
  if (nodes !== undefined) return imageProblems(image);
  const given = Object.entries({ controllers, scheduler, image, isolation }).filter(
    ([, value]) => value !== undefined,
  );
  return given.map(([field]) => ({
    field,
    rule: "needs --nodes",
    fix: "add --nodes, for example --nodes 3",
  }));
}

/** Controllers, scheduler and nodes, if --nodes asks for them. */
async function startCluster(
  { nodes, controllers, scheduler, image, isolation = "auto", dataDir }: SandboxFlags,
  kubeconfig: string,
  sandbox: { close(): Promise<void> },
  platform: Platform,
) {
  if (nodes === undefined) return undefined;
  const { startComponents } = await import("./components/start-components.ts");
  const options = {
    nodes,
    controllers: controllers !== "none",
    scheduler: scheduler !== "none",
    kubeconfig,
    isolation,
    images: parseImages(image),
    dataDirectory: dataDir === undefined ? undefined : join(dataDir, "nodes"),
  };
  try {
    return await startComponents(options, platform);
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

async function start(flags: SandboxFlags, platform: Platform) {
  const store = flags.store === undefined ? undefined : await openStore(flags, platform);
  try {
    const sandbox = await startSandbox({
      port: flags.port,
      host: flags.host,
      hostNames: flags.hostName ?? [],
      tls: flags.tls,
      anonymous: flags.anonymous ?? false,
      ...(flags.dataDir ? { dataDir: flags.dataDir } : {}),
      ...(store ? { store } : {}),
    });
    const close = async () => {
      await sandbox.close();
      await store?.close();
    };
    return { ...sandbox, close };
  } catch (error) {
    await store?.close();
    if (!(error instanceof SandboxError)) throw error;
    throw new CliError(
      error.code === "INVALID_OPTION" ? "Usage" : "Failed",
      `${error.message}${fixFor(error)}`,
      { cause: error },
    );
  }
}

/** Connects to the etcd of --store. */
async function openStore(flags: SandboxFlags, platform: Platform): Promise<Store> {
  const { store = "", dataDir } = flags;
  const { isLockUrl, maskLock, parseLockUrl, urlProblems } = await import("../../stores/lock-url.ts");
  const place = isLockUrl(store) ? parseLockUrl(store) : undefined;
  if (place?.store !== "etcd" || place.prefix !== undefined) {
    const problem = {
      field: "store",
      rule: "must be etcd://HOST:2379 or etcds://HOST:2379, without a path",
      value: maskLock(store),
    };
    rejectProblems([problem]);
  }
  const nameOf = platform.env("TENURE_STORE") === store ? () => "TENURE_STORE" : flagOf;
  rejectProblems(
    [...urlProblems("store", store, nameOf), ...(dataDir ? [exclusive("store", "dataDir")] : [])],
    { nameOf },
  );
  const { etcdAccess } = await import("../../stores/open-store.ts");
  const access = await etcdAccess(place as Extract<typeof place, { store: "etcd" }>, platform);
  try {
    return await openEtcdStore(access);
  } catch (error) {
    if (error instanceof SandboxError)
      throw new CliError("Failed", `Cannot open the store ${maskLock(store)}: ${error.message}`, {
        cause: error,
      });
    const { failureFromError } = await import("@tenure/etcd/internal");
    const server = `etcd ${access.endpoints.join(",")}`;
    const { kind, message } = failureFromError(error, "open the store", {
      server,
      key: "--prefix=true /registry/",
    });
    const fix = kind === "unreachable" ? ". Check that etcd runs" : "";
    throw new CliError("Failed", `${message}${fix}`, { cause: error });
  }
}

function fixFor({ code }: SandboxError): string {
  if (code === "CANNOT_LISTEN") return ", with --port or --host";
  return code === "DATA_DIR" ? ", with --data-dir" : "";
}

function banner(url: string, kubeconfig: string, flags: SandboxFlags): string {
  const { dataDir, store, anonymous } = flags;
  const place = dataDir ?? (store === undefined ? "in memory, lost when it stops" : "in etcd");
  return `
  A Kubernetes API is ready at ${url}

    export KUBECONFIG=${kubeconfig}
    kubectl get leases -A -w

  Data: ${place}${anonymous ? "\n  Every request without a token is allowed." : ""}
  Press Ctrl-C to stop it.

`;
}
