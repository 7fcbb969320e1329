// @ts-check
/** Checks the site as a browser reads it: every link, anchor and file exists, and nothing is loaded from elsewhere. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** @param {string} folder of the built site @param {string} [base] what its addresses begin with @returns {{ pages: number, problems: string[] }} */
export function checkSite(folder, base = "/") {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = files.filter((file) => file.endsWith(".html") && file !== "404.html");
  const texts = new Map(pages.map((page) => [page, readFileSync(join(folder, page), "utf8")]));
  const idsOf = cached((/** @type {string} */ page) => valuesOf(texts.get(page) ?? "", /\sid="([^"]*)"/g));
  const problems = [...texts].flatMap(([page, html]) => [
    ...loadedFromElsewhere(html).map((address) => `${page} loads ${address}`),
    ...valuesOf(html, /\s(?:href|src)="([^"]*)"/g)
      .filter((address) => !/^([a-z]+:|\/\/)/.test(address))
      .flatMap((address) => problemOf(page, address))
      .map((problem) => `${page}: ${problem}`),
  ]);
  const styles = files.filter((file) => file.endsWith(".css"));
  for (const style of styles)
    for (const address of valuesOf(readFileSync(join(folder, style), "utf8"), /url\(["']?(https?:[^)"']*)/g))
      problems.push(`${style} loads ${address}`);
  return { pages: pages.length, problems: [...new Set(problems)] };

  /** @param {string} page @param {string} address @returns {string[]} */
  function problemOf(page, address) {
    const [path = "", anchor = ""] = address.split("#");
    const file = path === "" ? page : fileOf(page, path);
    if (file === undefined || !existsSync(join(folder, file))) return [`there is no ${path}`];
    if (anchor !== "" && texts.has(file) && !idsOf(file).includes(decodeURIComponent(anchor)))
      return [`there is no heading #${anchor} in ${file}`];
    return [];
  }

  /** @param {string} page @param {string} path @returns {string | undefined} a file of the site */
  function fileOf(page, path) {
    const decoded = decodeURIComponent(path);
    if (decoded.startsWith("/") && !decoded.startsWith(base)) return undefined;
    const file = decoded.startsWith("/") ? decoded.slice(base.length) : posix.join(dirname(page), decoded);
    const isFolder =
      file === "" || (existsSync(join(folder, file)) && statSync(join(folder, file)).isDirectory());
    return isFolder ? posix.join(file, "index.html") : file;
  }
}

/** A link may lead elsewhere. A script, a style, a font or a picture may not. @param {string} html */
function loadedFromElsewhere(html) {
  return valuesOf(html, /<(?:script|img|iframe|source)[^>]*\ssrc="((?:https?:)?\/\/[^"]*)"/g).concat(
    valuesOf(html, /<link[^>]*\shref="((?:https?:)?\/\/[^"]*)"/g),
  );
}

/** @param {string} text @param {RegExp} pattern */
const valuesOf = (text, pattern) =>
  [...text.matchAll(pattern)].map(([, value = ""]) => value.replaceAll("&amp;", "&"));

/** @template T @param {(key: string) => T} compute @returns {(key: string) => T} */
function cached(compute) {
  /** @type {Map<string, T>} */
  const known = new Map();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}
