/** The page with a timeline in one HTML file that needs no server. */
import { writeFile } from "node:fs/promises";
import type { Timeline } from "../model/timeline.ts";
import { type Assets, hashSource, loadAssets } from "./assets.ts";

/** Writes the file. @param title what was recorded */
export async function writePage(path: string, timeline: Timeline, title: string): Promise<void> {
  await writeFile(path, singlePage(await loadAssets(), timeline, title));
}

export function singlePage({ html, css, script }: Assets, timeline: Timeline, title: string): string {
  const { elections, ...rest } = timeline.toJSON();
  const data = (value: unknown) =>
    `<script type="application/json" class="recorded">${inScript(value)}</script>`;
  // One element for each election: the page reads them one by one and stays responsive.
  const recorded = [data({ ...rest, title }), ...elections.map(data)].join("\n");
  // In a script element only this sequence has a meaning.
  const code = script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  const policy = [
    "default-src 'none'",
    `script-src ${hashSource(code)}`,
    `style-src ${hashSource(css)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return replaceOnce(
    replaceOnce(
      replaceOnce(html, "<!-- policy -->", `<meta http-equiv="Content-Security-Policy" content="${policy}">`),
      '<link rel="stylesheet" href="page.css">',
      `<style>${css}</style>`,
    ),
    '<script type="module" src="page.js"></script>',
    `${recorded}\n<script type="module">${code}</script>`,
  );
}

/** Not `replace` with a text, in which $ has a meaning. */
function replaceOnce(text: string, part: string, by: string): string {
  const at = text.indexOf(part);
  if (at === -1) throw new Error(`the page has no ${part}`);
  return text.slice(0, at) + by + text.slice(at + part.length);
}

/** JSON that cannot end its script element: names come from the cluster. */
function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}
