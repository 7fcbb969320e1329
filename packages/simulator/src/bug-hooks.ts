/** Module hooks that plant a bug: they change the source of core's files while Node loads them. */
import type { LoadHook, ResolveHook } from "node:module";
import { bugs } from "./bugs.ts";

let planted = "";

export function initialize(name: string): void {
  planted = name;
}

/** Loads the separate modules of a package instead of its bundle, so that a bug can be planted into one of them. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const resolved = await nextResolve(specifier, context);
  const isBundled = specifier.startsWith("@tenure/");
  return isBundled
    ? { ...resolved, url: resolved.url.replace("/bundle/index.js", "/dist/index.js") }
    : resolved;
};

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const edits = bugs[planted]?.edits.filter((edit) => url.endsWith(`/core/dist/${edit.file}`)) ?? [];
  if (edits.length === 0 || loaded.source === undefined) return loaded;
  const source = edits.reduce((text, { file, find, replace }) => {
    // If the code has changed, fail. Otherwise the bug would silently be missing.
    if (text.split(find).length !== 2)
      throw new Error(`Cannot plant ${planted}: ${file} must contain this text exactly once: ${find}`);
    return text.replace(find, () => replace);
  }, String(loaded.source));
  return { ...loaded, source };
};
