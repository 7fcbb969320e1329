// @ts-check
import { fileURLToPath } from "node:url";
import { buildGoProgram } from "../lib/go-program.mjs";

/** The counterpart of bench/candidate.mjs. */
export function buildGoCandidate() {
  return buildGoProgram({
    moduleFolder: fileURLToPath(new URL(".", import.meta.url)),
    name: "candidate",
    library: "k8s.io/client-go",
    shortName: "client-go",
  });
}
