/** Writes a recording. Each line is written before the next thing is seen, so a kill costs at most the last line. */
import { closeSync, openSync, writeSync } from "node:fs";
import { messageOf } from "@tenure/base";
import { headerLine, type Observation, observationLine } from "@tenure/ui";
import { CliError } from "../errors.ts";

export class RecordingFile {
  readonly #path: string;
  readonly #file: number;

  constructor(path: string, startedMs: number, source: string) {
    this.#path = path;
    this.#file = this.#try(() => openSync(path, "w", 0o600));
    this.#write(headerLine(startedMs, source));
  }

  add(seen: Observation): void {
    this.#write(observationLine(seen));
  }

  close(nowMs: number): void {
    this.add({ kind: "time", atMs: nowMs });
    closeSync(this.#file);
  }

  #write(line: string): void {
    this.#try(() => writeSync(this.#file, line));
  }

  #try<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw new CliError("Failed", `Cannot record to ${this.#path}: ${messageOf(error)}`, { cause: error });
    }
  }
}
