/**
 * Turns kubeconfig files into a `ClusterConfig`: read, merge, choose the context, resolve cluster and user. One error reports
 * every problem of the chosen context. Other contexts are not checked.
 */
import type { ClusterConfig } from "../config.ts";
import { KubeError, systemCode } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { resolveCluster } from "./cluster.ts";
import { Fields, Problems } from "./fields.ts";
import { type Entry, type MergedKubeconfig, mergeKubeconfigs } from "./merge.ts";
import { type KubeconfigFile, readKubeconfig } from "./read.ts";

type LoadKubeconfigOptions = {
  /** Where the paths come from, which decides the advice in messages. */
  readonly origin: "kubeconfig" | "KUBECONFIG" | "default";
  readonly context: string | undefined;
  readonly platform: Platform;
};

export async function loadKubeconfig(
  paths: readonly string[],
  options: LoadKubeconfigOptions,
): Promise<ClusterConfig> {
  const files = await readAll(paths, options);
  const problems = new Problems();
  const merged = mergeKubeconfigs(files, problems);
  const source = `the kubeconfig ${merged.paths.join(", ")}`;
  if (files.every(({ content }) => Object.keys(content).length === 0)) {
    throw new KubeError("BadConfig", `Cannot use ${source}: it is empty. ${adviceFor(options.origin)}`);
  }
  problems.throwIfAny(source);
  const contextEntry = chooseContext(merged, options.context, source);
  const context = new Fields(contextEntry.value, `context "${contextEntry.name}"`, problems);
  const cluster = lookUp(context, "cluster", merged.clusters);
  const user = lookUp(context, "user", merged.users);
  if (cluster === undefined && !context.has("cluster")) context.problem("it has no cluster");
  const config = cluster && (await resolveCluster(cluster, user, problems, options.platform));
  const namespace = context.string("namespace");
  problems.throwIfAny(source);
  return { ...(config as ClusterConfig), namespace };
}

async function readAll(paths: readonly string[], options: LoadKubeconfigOptions): Promise<KubeconfigFile[]> {
  const files: KubeconfigFile[] = [];
  let missing: unknown;
  for (const path of paths) {
    try {
      files.push(await readKubeconfig(path, adviceFor(options.origin), options.platform));
    } catch (error) {
      if (systemCode((error as Error).cause) !== "ENOENT") throw error;
      missing ??= error;
    }
  }
  if (files.length === 0) throw missing;
  return files;
}

function adviceFor(origin: LoadKubeconfigOptions["origin"]): string {
  switch (origin) {
    case "kubeconfig":
      return "Pass another kubeconfig, or omit it and set KUBECONFIG.";
    case "KUBECONFIG":
      return "Correct or unset KUBECONFIG, or pass kubeconfig.";
    default:
      return "Set KUBECONFIG or pass kubeconfig.";
  }
}

function chooseContext(merged: MergedKubeconfig, requested: string | undefined, source: string): Entry {
  const known = [...merged.contexts.keys()].map((name) => `"${name}"`).join(", ") || "none";
  const name = requested ?? merged.currentContext;
  if (name === undefined) {
    throw new KubeError(
      "BadConfig",
      `Cannot choose a context of ${source}: current-context is not set. Pass context or run kubectl config use-context. Available: ${known}.`,
    );
  }
  const entry = merged.contexts.get(name);
  if (entry !== undefined) return entry;
  const what = requested === undefined ? `its current-context "${name}"` : `the context "${name}"`;
  throw new KubeError("BadConfig", `Cannot use ${source}: ${what} does not exist. Available: ${known}.`);
}

function lookUp(context: Fields, key: string, entries: ReadonlyMap<string, Entry>): Entry | undefined {
  const name = context.string(key);
  if (name === undefined) return undefined;
  const entry = entries.get(name);
  if (entry === undefined) context.problem(`its ${key} "${name}" does not exist`);
  return entry;
}
