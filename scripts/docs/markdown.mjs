// @ts-check
/** The links and headings of a Markdown page, as a forge and the site read them. Pure. */

/**
 * @typedef {object} Link
 * @property {string} target as written, without the anchor; empty for a link within the page
 * @property {string} anchor without #; empty if there is none
 * @property {number} start where the target begins in the text
 * @property {number} end where the anchor, or else the target, ends
 */

/**
 * Blanks code, so that positions stay the same: a bracket in code is no link, and a # in a shell comment is no heading.
 * @param {string} text
 */
function withoutCode(text) {
  const blank = (/** @type {string} */ code) => code.replace(/[^\n]/g, " ");
  return text
    .replace(/^```[\s\S]*?^```$/gm, blank)
    .replace(/(?<=\n\n)(?: {4}.*\n)+/g, blank)
    .replace(/`[^`\n]*`/g, blank);
}

/** @param {string} text @returns {Link[]} links and pictures of this repository, not addresses of the web */
export function linksIn(text) {
  return [...withoutCode(text).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/dg)].map((match) => ({
    target: match[1] ?? "",
    anchor: match[2] ?? "",
    start: match.indices?.[1]?.[0] ?? 0,
    end: (match.indices?.[2] ?? match.indices?.[1])?.[1] ?? 0,
  }));
}

/** @param {string} text @returns {string[]} the anchors of the headings, in order */
export function anchorsIn(text) {
  const lines = text.replace(/^```[\s\S]*?^```$/gm, "");
  /** @type {Map<string, number>} */
  const seen = new Map();
  return [...lines.matchAll(/^#{1,6} +(.+?)\s*$/gm)].map(([, title = ""]) => {
    const slug = slugOf(title.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, ""));
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** The anchor of a heading, by the rule of GitHub and GitLab. The site uses it too, so that a link works on both. @param {string} title */
export function slugOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
}

/**
 * The plugin that writes the API pages numbers some anchors although only one heading has the name. Those links lose the number.
 * @param {string} text
 */
export function withExistingAnchors(text) {
  const anchors = new Set(anchorsIn(text));
  return text.replace(/\]\(#([^)]+?)-\d+\)/g, (link, name) => {
    const isThere = anchors.has(link.slice(3, -1));
    return !isThere && anchors.has(name) ? `](#${name})` : link;
  });
}
