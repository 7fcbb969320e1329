/**
 * Merges kubeconfig files by kubectl's rule: the first file that sets current-context or defines a cluster, user or context
 * wins. Later entries of the same name are ignored as a whole.
 */
import { Fields, type Problems } from "./fields.ts";
import type { KubeconfigFile } from "./read.ts";

export type Entry = { readonly name: string; readonly value: unknown; readonly path: string };

export type MergedKubeconfig = {
  readonly paths: readonly string[];
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
};

export function mergeKubeconfigs(files: readonly KubeconfigFile[], problems: Problems): MergedKubeconfig {
  const contexts = new Map<string, Entry>();
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  let currentContext: string | undefined;
  for (const { path, content } of files) {
    const fields = new Fields(content, path, problems);
    currentContext ??= fields.string("current-context");
    collect(fields, path, "contexts", "context", contexts, problems);
    collect(fields, path, "clusters", "cluster", clusters, problems);
    collect(fields, path, "users", "user", users, problems);
  }
  return { paths: files.map(({ path }) => path), currentContext, contexts, clusters, users };
}

function collect(
  fields: Fields,
  path: string,
  list: string,
  key: string,
  into: Map<string, Entry>,
  problems: Problems,
): void {
  const names = new Set<string>();
  for (const item of fields.list(list)) {
    const entry = new Fields(item, `${path}: an entry of ${list}`, problems);
    const name = entry.string("name");
    if (name === undefined) {
      entry.problem("it has no name");
      continue;
    }
    if (names.has(name)) fields.problem(`${list} contains "${name}" twice`);
    names.add(name);
    if (!into.has(name)) into.set(name, { name, value: entry.raw(key), path });
  }
}
