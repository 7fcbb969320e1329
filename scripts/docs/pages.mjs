// @ts-check
/**
 * Which files of the repository are pages of the site, and where. The pages of docs/ are, and everything that they link to: other
 * Markdown, source files, which are shown as code, and folders, which are shown as a list. So no link leaves the site, and the site
 * does not need the address of a forge.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { linksIn } from "./markdown.mjs";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The page that a visitor sees first, and the page that lists all others. */
const home = "docs/why.md";
const contents = "docs/README.md";

/** @type {Readonly<Record<string, string>>} */
const languages = {
  ".json": "json",
  ".mjs": "js",
  ".proto": "proto",
  ".py": "py",
  ".sh": "sh",
  ".ts": "ts",
  ".yaml": "yaml",
};

/** @typedef {"markdown" | "source" | "folder" | "picture"} Kind */

/** @param {string} path from the root of the repository @returns {Kind} */
function kindOf(path) {
  if (statSync(join(root, path)).isDirectory()) return "folder";
  if (path.endsWith(".md")) return "markdown";
  return [".png", ".svg"].includes(extname(path)) ? "picture" : "source";
}

/** Where a file is in the site. A name with a second dot, like elect.mjs.md, is no page for VitePress. @param {string} path @param {Kind} kind */
function placeOf(path, kind) {
  if (path === home) return "index.md";
  if (path === contents) return "contents.md";
  const short = path.replace(/^docs\//, "");
  if (kind === "picture") return short;
  if (kind === "folder") return `${short}/index.md`;
  if (kind === "source") return `${short.replaceAll(".", "-")}.md`;
  return basename(path) === "README.md" ? `${dirname(short)}/index.md` : short;
}

/** @param {string} from a page @param {string} target of a link in it @returns {string} a path from the root of the repository */
function resolve(from, target) {
  const path = posix.join(dirname(from), target).replace(/\/$/, "");
  if (!existsSync(join(root, path))) throw new Error(`${from} links to ${path}, which does not exist`);
  // A forge shows the README of a folder, where there is one.
  if (statSync(join(root, path)).isDirectory() && readdirSync(join(root, path)).includes("README.md"))
    return `${path}/README.md`;
  return path;
}

/** @param {string} path @param {Kind} kind @returns {string} the page as Markdown */
function textOf(path, kind) {
  if (kind === "markdown") return readFileSync(join(root, path), "utf8");
  if (kind === "folder") return listOf(path);
  const code = readFileSync(join(root, path), "utf8");
  const language = languages[extname(path)] ?? "txt";
  return `# ${path}\n\n\`\`\`\`${language}\n${code}\`\`\`\`\n`;
}

/** Documents and examples become pages. Of other folders, such as tests, only the names are shown. @param {string} folder */
function listOf(folder) {
  const arePages = /^(docs|examples)\//.test(folder);
  const names = readdirSync(join(root, folder)).filter((name) => !["node_modules", "dist"].includes(name));
  const items = names.map((name) =>
    arePages ? `- [${titleOf(`${folder}/${name}`)}](${name})` : `- \`${name}\``,
  );
  return `# ${folder}\n\n${items.join("\n")}\n`;
}

/** @param {string} path @returns {string} the heading of a Markdown page, else the name of the file */
function titleOf(path) {
  const [, title] = path.endsWith(".md")
    ? (/^# (.+)$/m.exec(readFileSync(join(root, path), "utf8")) ?? [])
    : [];
  return title ?? basename(path);
}

/** @param {string} folder @returns {string[]} */
function markdownIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `${folder}/${path}`);
}

/** Every page with the links of its text rewritten to their places in the site. @returns {{ path: string, place: string, text?: string }[]} */
export function sitePages() {
  /** @type {Map<string, { place: string, kind: Kind, text: string }>} */
  const found = new Map();
  const waiting = markdownIn("docs");
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const kind = kindOf(path);
    const text = kind === "picture" ? "" : textOf(path, kind);
    found.set(path, { place: placeOf(path, kind), kind, text });
    if (kind === "source") continue;
    for (const { target } of linksIn(text))
      if (target !== "") waiting.push(resolve(inFolder(path, kind), target));
  }
  const placeAt = (/** @type {string} */ path) => found.get(path)?.place ?? "";
  return [...found].map(([path, { place, kind, text }]) => ({
    path,
    place,
    ...(kind !== "picture" && {
      text:
        kind === "source"
          ? text
          : withLinks(text, (target) =>
              posix.relative(dirname(place), placeAt(resolve(inFolder(path, kind), target))),
            ),
    }),
  }));
}

/** The links of a folder's list begin in the folder. @param {string} path @param {Kind} kind */
const inFolder = (path, kind) => (kind === "folder" ? `${path}/.` : path);

/** @param {string} text @param {(target: string) => string} placeOfTarget */
function withLinks(text, placeOfTarget) {
  let result = "";
  let at = 0;
  for (const { target, anchor, start, end } of linksIn(text)) {
    if (target === "") continue;
    result += text.slice(at, start) + placeOfTarget(target) + (anchor && `#${anchor}`);
    at = end;
  }
  return result + text.slice(at);
}

/**
 * The sidebar: the headings and links of the page that lists all others, in its order.
 * @returns {{ text: string, collapsed: boolean, items: { text: string, link: string }[] }[]}
 */
export function sidebar() {
  const text = readFileSync(join(root, contents), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const items = linksIn(section).map(({ target, start }) => {
        const path = resolve(contents, target);
        const [, label = target] = /\[([^\]]*)\]\($/.exec(section.slice(0, start)) ?? [];
        const place = placeOf(path, kindOf(path)).replace(/(^|\/)index\.md$|\.md$/, "$1");
        return { text: label.replace(/^./, (first) => first.toUpperCase()), link: `/${place}` };
      });
      return { text: section.slice(0, section.indexOf("\n")), collapsed: false, items };
    });
}
