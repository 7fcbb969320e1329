// @ts-check
import { fileURLToPath } from "node:url";
import { buildGoProgram } from "../lib/go-program.mjs";

/** The counterpart of bench/shard-member.mjs. */
export function buildGoMember() {
  return buildGoProgram({
    moduleFolder: fileURLToPath(new URL(".", import.meta.url)),
    name: "member",
    library: "knative.dev/pkg",
    shortName: "knative",
  });
}
