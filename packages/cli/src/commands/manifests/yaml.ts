/**
 * YAML with comments above fields, which js-yaml cannot write. It supports only what manifests need: maps, lists, strings,
 * whole numbers and booleans.
 */

export type CommentAt = (path: string) => string | undefined;

const indentation = "  ";
const commentWidth = 100;
const listWidth = 60;

/** One document. `commentAt` returns the comment for a path such as `spec.ports[0].port`. */
export function toYaml(value: object, commentAt: CommentAt = () => undefined): string {
  return lines(value, "", "", commentAt).join("\n").concat("\n");
}

export function toComment(text: string, indent = ""): string[] {
  const width = commentWidth - indent.length;
  const out: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line && line.length + word.length + 1 > width) {
      out.push(line);
      line = "";
    }
    line = line ? `${line} ${word}` : word;
  }
  return [...out, line].map((words) => `${indent}# ${words}`);
}

function lines(value: unknown, indent: string, path: string, commentAt: CommentAt): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      const at = `${path}[${index}]`;
      const text = entry("-", item, indent, at, commentAt);
      return [...comment(at, indent, commentAt), ...text];
    });
  }
  return Object.entries(value as object).flatMap(([key, item]) => {
    const at = path ? `${path}.${key}` : key;
    return [...comment(at, indent, commentAt), ...entry(`${scalar(key)}:`, item, indent, at, commentAt)];
  });
}

function entry(head: string, item: unknown, indent: string, path: string, commentAt: CommentAt): string[] {
  if (typeof item === "string" && item.includes("\n")) {
    const text = item.replace(/\n$/, "").split("\n");
    return [
      `${indent}${head} ${item.endsWith("\n") ? "|" : "|-"}`,
      ...text.map((line) => (line ? indent + indentation + line : "")),
    ];
  }
  if (!isCollection(item)) return [`${indent}${head} ${scalar(item)}`];
  const short = inLine(item);
  if (short !== undefined && head !== "-") return [`${indent}${head} ${short}`];
  if (Object.keys(item).length === 0) return [`${indent}${head} ${Array.isArray(item) ? "[]" : "{}"}`];
  const inner = lines(item, indent + indentation, path, commentAt);
  const [first = "", ...rest] = inner;
  // A list item begins on the line of its dash, unless its first field has a comment.
  if (head === "-" && !first.trimStart().startsWith("#")) {
    return [`${indent}- ${first.slice(indent.length + indentation.length)}`, ...rest];
  }
  return [`${indent}${head}`, ...inner];
}

/** A short list of scalars is written on one line. */
function inLine(item: object): string | undefined {
  if (!Array.isArray(item) || item.length === 0 || item.some(isCollection)) return undefined;
  const text = `[${item.map((word) => JSON.stringify(word)).join(", ")}]`;
  return text.length <= listWidth ? text : undefined;
}

function comment(path: string, indent: string, commentAt: CommentAt): string[] {
  const text = commentAt(path);
  return text ? toComment(text, indent) : [];
}

const isCollection = (value: unknown): value is object => typeof value === "object" && value !== null;

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain = /^[A-Za-z/][\w./@=-]*(:[\w./@-]+)*$/.test(value);
  const isWord = /^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return isPlain && !isWord ? value : JSON.stringify(value);
}
