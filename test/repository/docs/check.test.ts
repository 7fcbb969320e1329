/** The check of the built site finds what a reader would run into. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkSite } from "../../../scripts/docs/check.mjs";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenure-site-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function problemsOf(files: Record<string, string>, base?: string): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return checkSite(folder, base).problems;
}

it("accepts links to pages, folders, headings and other hosts", () => {
  const index = `<h2 id="b"></h2><a href="/c/"></a><a href="./c/d.html#e"></a><a href="#b"></a><a href="https://f.example"></a>`;
  const files = { "index.html": index, "c/index.html": "", "c/d.html": `<h2 id="e"></h2><a href="../"></a>` };
  expect(problemsOf(files)).toEqual([]);
  expect(checkSite(folder).pages).toBe(3);
});

it("finds a missing page, heading and picture", () => {
  const index = `<a href="/a.html"></a><a href="b.html#c"></a><img src="/d.png">`;
  expect(problemsOf({ "index.html": index, "b.html": "" })).toEqual([
    "index.html: there is no /a.html",
    "index.html: there is no heading #c in b.html",
    "index.html: there is no /d.png",
  ]);
});

it("finds scripts, styles, pictures and fonts of other hosts", () => {
  const index = `<script src="https://a.example/b.js"></script><link rel="stylesheet" href="//c.example/d.css"><img src="http://e.example/f.png">`;
  const style = "@font-face { src: url(https://g.example/h.woff2) }";
  expect(problemsOf({ "index.html": index, "style.css": style })).toEqual([
    "index.html loads https://a.example/b.js",
    "index.html loads http://e.example/f.png",
    "index.html loads //c.example/d.css",
    "style.css loads https://g.example/h.woff2",
  ]);
});

it("finds a link that leaves the base of the site", () => {
  const files = { "index.html": `<a href="/tenure/a.html"></a><a href="/a.html"></a>`, "a.html": "" };
  expect(problemsOf(files, "/tenure/")).toEqual(["index.html: there is no /a.html"]);
});
