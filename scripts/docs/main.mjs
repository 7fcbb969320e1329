// @ts-check
/**
 * Builds the documentation as a site: the pages of docs/ and what they link to, and the API reference from the types. Fails on a dead
 * link or a missing heading.
 *
 *     npm run docs [-- --base /tenure/]
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { checkSite } from "./check.mjs";
import { withExistingAnchors } from "./markdown.mjs";
import { root, sitePages } from "./pages.mjs";

const { values } = parseArgs({ options: { base: { type: "string", default: "/" } } });
const site = join(root, "site");
const api = join(site, "pages/api");
const folder = join(site, ".vitepress/dist");
const startedAt = performance.now();

// The tools have no scripts that the build needs.
run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);

rmSync(join(site, "pages"), { recursive: true, force: true });
run(join(site, "node_modules/.bin/typedoc"), ["--logLevel", "Warn", "--treatWarningsAsErrors"]);
for (const page of readdirSync(api, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".md"),
))
  writeFileSync(join(api, page), withExistingAnchors(readFileSync(join(api, page), "utf8")));
for (const { path, place, text } of sitePages()) {
  const file = join(site, "pages", place);
  mkdirSync(dirname(file), { recursive: true });
  if (text === undefined) cpSync(join(root, path), file);
  else writeFileSync(file, text);
}

rmSync(folder, { recursive: true, force: true });
run(join(site, "node_modules/.bin/vitepress"), ["build", ".", "--base", values.base]);

const { pages, problems } = checkSite(folder, values.base);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`The site has ${problems.length} broken links or files. They are listed above.`);
  process.exit(1);
}
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
const here = (/** @type {string} */ path) => relative(process.cwd(), path);
console.log(`${pages} pages in ${here(folder)}, after ${seconds} s.`);
console.log(`To look at them: ${here(join(site, "node_modules/.bin/vitepress"))} preview ${here(site)}`);

/** Ends the build if the program fails. The program has said why. @param {string} program @param {string[]} args */
function run(program, args) {
  const { status } = spawnSync(program, args, { cwd: site, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(`The site was not built, because ${basename(program)} failed. Its messages are above.`);
  process.exit(1);
}
