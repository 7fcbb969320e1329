/** Prints the manifests: YAML with comments for people, JSON for programs. */
import type { Platform } from "../../platform.ts";
import { commentFor, preamble } from "./comments.ts";
import { objectsFor } from "./objects.ts";
import { checkOptions, type ManifestOptions } from "./options.ts";
import { toComment, toYaml } from "./yaml.ts";

export function printManifests(given: ManifestOptions, output: "yaml" | "json", platform: Platform): void {
  platform.out(output === "json" ? manifestsAsJson(given) : manifestsAsYaml(given));
}

export function manifestsAsYaml(given: ManifestOptions): string {
  const options = checkOptions(given);
  const documents = objectsFor(given).map((object) =>
    toYaml(object, (path) => commentFor(object, path, options)),
  );
  const head = preamble(options).flatMap((text) => toComment(text));
  return `${head.join("\n")}\n${documents.join("---\n")}`;
}

function manifestsAsJson(given: ManifestOptions): string {
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items: objectsFor(given) }, null, 2)}\n`;
}
