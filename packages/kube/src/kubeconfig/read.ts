/**
 * Reads one kubeconfig file. Size, depth and aliases are limited, so that no file can hang the process or fill its memory.
 * Error messages contain line and column, but never the text there: the line next to a typo is often a token.
 */
import { CORE_SCHEMA, load, mergeTag } from "js-yaml";
import { fileProblem, KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { isRecord } from "./fields.ts";

const maxBytes = 1024 * 1024;

export type KubeconfigFile = { readonly path: string; readonly content: Readonly<Record<string, unknown>> };

/** @param advice what the user can do, for the end of an error message */
export async function readKubeconfig(
  path: string,
  advice: string,
  platform: Platform,
): Promise<KubeconfigFile> {
  let text: string;
  try {
    text = await platform.readFile(path, maxBytes);
  } catch (error) {
    throw new KubeError("BadConfig", `Cannot read the kubeconfig ${path}: ${fileProblem(error)}. ${advice}`, {
      cause: error,
    });
  }
  // As in kubectl, one of several files may be empty.
  const isEmpty = text.split("\n").every((line) => /^\s*(#.*|---\s*)?$/.test(line));
  if (isEmpty) return { path, content: {} };
  const content = parseYaml(text, path, advice);
  if (!isRecord(content)) {
    throw new KubeError(
      "BadConfig",
      `Cannot use the kubeconfig ${path}: it is not a kubeconfig but a ${kindOf(content)}. ${advice}`,
    );
  }
  return { path, content };
}

function parseYaml(text: string, path: string, advice: string): unknown {
  try {
    return load(text, {
      schema: CORE_SCHEMA.withTags(mergeTag),
      maxDepth: 50,
      maxAliases: 100,
      maxTotalMergeKeys: 1000,
    });
  } catch (error) {
    const { reason, mark } = error as { reason?: string; mark?: { line: number; column: number } };
    const why = reason?.replace(/"[^"]*"/g, '"…"') ?? "cannot parse it";
    const at = mark ? ` at line ${mark.line + 1}, column ${mark.column + 1}` : "";
    throw new KubeError(
      "BadConfig",
      `Cannot use the kubeconfig ${path}: it is not valid YAML: ${why}${at}. ${advice}`,
    );
  }
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : value === null ? "null" : typeof value;
}
