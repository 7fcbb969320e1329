/** The files of the page. The script is bundled into one file when this package is built. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { UiError } from "../errors.ts";

const places = {
  html: "../../page/index.html",
  css: "../../page/page.css",
  script: "../../bundle/page.js",
} as const;

export type Assets = Readonly<Record<keyof typeof places, string>>;

export async function loadAssets(): Promise<Assets> {
  const read = async (place: string) => {
    try {
      return await readFile(new URL(place, import.meta.url), "utf8");
    } catch (cause) {
      throw new UiError(
        "PageMissing",
        `Cannot read ${place} of the page: build @tenure/ui with npm run build.`,
        { cause },
      );
    }
  };
  const [html, css, script] = await Promise.all([read(places.html), read(places.css), read(places.script)]);
  return { html, css, script };
}

/** For a Content-Security-Policy: allows exactly this text. */
export function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
