/** Runs a sandbox until a signal stops it. */
import { messageOf } from "@tenure/base";
import { SandboxError, startSandbox } from "@tenure/sandbox";
import { CliError } from "../../errors.ts";
import { defaultKubeconfigPath, type Platform } from "../../platform.ts";
import { firstSignal, onceAborted } from "../../signals.ts";
import type { SandboxFlags } from "./declare.ts";

export async function runSandbox(flags: SandboxFlags, platform: Platform): Promise<void> {
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
  const sandbox = await start(flags);
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
  const json = (flags.logFormat ?? (platform.isTerminal ? "text" : "json")) === "json";
  if (json)
    platform.out(`${JSON.stringify({ event: "ready", url: sandbox.url, kubeconfig, pid: platform.pid })}\n`);
  else platform.out(banner(sandbox.url, kubeconfig, flags));
  await onceAborted(shutdown.signal);
  await sandbox.close();
  if (json) platform.out(`${JSON.stringify({ event: "stopped", signal: received })}\n`);
}

async function start(flags: SandboxFlags) {
  try {
    return await startSandbox({
      port: flags.port,
      host: flags.host,
      hostNames: flags.hostName ?? [],
      tls: flags.tls,
      anonymous: flags.anonymous ?? false,
      ...(flags.dataDir ? { dataDir: flags.dataDir } : {}),
    });
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new CliError(
      error.code === "INVALID_OPTION" ? "Usage" : "Failed",
      `${error.message}${fixFor(error)}`,
      { cause: error },
    );
  }
}

function fixFor({ code }: SandboxError): string {
  if (code === "CANNOT_LISTEN") return ", with --port or --host";
  return code === "DATA_DIR" ? ", with --data-dir" : "";
}

function banner(url: string, kubeconfig: string, { dataDir, anonymous }: SandboxFlags): string {
  return `
  A Kubernetes API is ready at ${url}

    export KUBECONFIG=${kubeconfig}
    kubectl get leases -A -w

  Data: ${dataDir ?? "in memory, lost when it stops"}${anonymous ? "\n  Every request without a token is allowed." : ""}
  Press Ctrl-C to stop it.

`;
}
