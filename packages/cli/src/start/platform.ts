/** What the start of the command takes from its process. It imports nothing, so that `tenure --version` starts as fast as Node. */
import { writeSync } from "node:fs";

/** The arguments after the name of the command. */
export const ownArguments: readonly string[] = process.argv.slice(2);

/** Without process.stdout, which takes milliseconds to open. */
export function print(text: string): void {
  writeSync(1, text);
}

export function exit(code: number): never {
  process.exit(code);
}
