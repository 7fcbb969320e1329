/** The pages of the docs, and their code blocks. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

const markdownIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md") && !path.includes("node_modules"))
    .map((path) => join(folder, path));

export const pages: readonly Page[] = [
  "README.md",
  ...markdownIn("docs").filter((path) => !path.startsWith("docs/adr/")),
  ...markdownIn("deploy"),
  ...markdownIn("examples"),
].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Fenced blocks, with the line number of their first line of code. */
export function blocksOf({ path, text }: Page): Block[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ({ 1: language = "", 2: code = "", index }) => ({
      page: path,
      line: text.slice(0, index).split("\n").length + 1,
      language,
      code,
    }),
  );
}

/** Indented blocks, which also contain commands. */
export function indentedOf({ path, text }: Page): Block[] {
  const withoutFences = text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, ""));
  return [...withoutFences.matchAll(/(?:^ {4}.*\n)+/gm)].map(({ 0: code, index }) => ({
    page: path,
    line: withoutFences.slice(0, index).split("\n").length,
    language: "sh",
    code: code.replace(/^ {4}/gm, ""),
  }));
}
