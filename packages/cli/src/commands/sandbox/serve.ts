/** Runs a sandbox until it is told to stop. */
import { SandboxError, startSandbox } from "@tenure/sandbox";
import { CliError } from "../../errors.ts";
import { defaultKubeconfigPath, type Platform } from "../../platform.ts";
import type { SandboxFlags } from "./declare.ts";

export async function runSandbox(flags: SandboxFlags, platform: Platform): Promise<void> {
  const stop = platform.stopSignal();
  const sandbox = await start(flags);
  const kubeconfig = flags.kubeconfigOut ?? defaultKubeconfigPath(platform);
  try {
    await sandbox.writeKubeconfig(kubeconfig);
  } catch (error) {
    await sandbox.close();
    const why = (error as Error).message;
    throw new CliError(
      "FAILED",
      `Cannot write the kubeconfig to ${kubeconfig}: ${why}; choose another file with --kubeconfig-out`,
    );
  }
  const json = (flags.logFormat ?? (platform.isTerminal ? "text" : "json")) === "json";
  if (json)
    platform.out(`${JSON.stringify({ event: "ready", url: sandbox.url, kubeconfig, pid: platform.pid })}\n`);
  else platform.out(banner(sandbox.url, kubeconfig, flags));
  const signal = await stop;
  await sandbox.close();
  if (json) platform.out(`${JSON.stringify({ event: "stopped", signal })}\n`);
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
      error.code === "INVALID_OPTION" ? "USAGE" : "FAILED",
      `${error.message}${wayOut(error)}`,
      { cause: error },
    );
  }
}

function wayOut({ code }: SandboxError): string {
  if (code === "CANNOT_LISTEN") return ", with --port or --host";
  return code === "DATA_DIR" ? ", with --data-dir" : "";
}

function banner(url: string, kubeconfig: string, { dataDir, anonymous }: SandboxFlags): string {
  return `
  A Kubernetes API is ready at ${url}

    export KUBECONFIG=${kubeconfig}
    kubectl get leases -A -w

  Data: ${dataDir ?? "in memory, gone when it stops"}${anonymous ? "\n  Requests without a token may do everything." : ""}
  Ctrl-C stops it.

`;
}
