/** The version of this package. The bundle contains the number instead of this file: see scripts/bundle-command.mjs. */
import { readFileSync } from "node:fs";

const { version: own } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

export const version: string = own;
