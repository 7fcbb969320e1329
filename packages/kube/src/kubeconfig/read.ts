/**
 * One kubeconfig file into plain data. Bounded in size, depth and aliases, so that no file can hang or fill the process.
 * Error messages give line and column, never the text there: the line next to a typo is often a token.
 */
import { fileProblem, KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { isRecord } from "./fields.ts";

const maxBytes = 1024 * 1024;

export type KubeconfigFile = { readonly path: string; readonly content: Readonly<Record<string, unknown>> };

/** @param wayOut the end of the message: what the user can do */
export async function readKubeconfig(
  path: string,
  wayOut: string,
  platform: Platform,
): Promise<KubeconfigFile> {
  let text: string;
  try {
    text = await platform.readFile(path, maxBytes);
  } catch (error) {
    throw new KubeError("BadConfig", `Cannot read the kubeconfig ${path}: ${fileProblem(error)}. ${wayOut}`, {
      cause: error,
    });
  }
  // kubectl takes an empty file for one that says nothing, which in a list is legitimate.
  const isEmpty = text.split("\n").every((line) => /^\s*(#.*|---\s*)?$/.test(line));
  if (isEmpty) return { path, content: {} };
  const content = await parseYaml(text, path, wayOut);
  if (!isRecord(content)) {
    throw new KubeError(
      "BadConfig",
      `Cannot use the kubeconfig ${path}: it is not a kubeconfig but a ${kindOf(content)}. ${wayOut}`,
    );
  }
  return { path, content };
}

async function parseYaml(text: string, path: string, wayOut: string): Promise<unknown> {
  const { load, CORE_SCHEMA, mergeTag } = await import("js-yaml");
  try {
    return load(text, {
      schema: CORE_SCHEMA.withTags(mergeTag),
      maxDepth: 50,
      maxAliases: 100,
      maxTotalMergeKeys: 1000,
    });
  } catch (error) {
    const { reason, mark } = error as { reason?: string; mark?: { line: number; column: number } };
    const why = reason?.replace(/"[^"]*"/g, '"…"') ?? "unreadable";
    const at = mark ? ` at line ${mark.line + 1}, column ${mark.column + 1}` : "";
    throw new KubeError(
      "BadConfig",
      `Cannot use the kubeconfig ${path}: it is not YAML, ${why}${at}. ${wayOut}`,
    );
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}
