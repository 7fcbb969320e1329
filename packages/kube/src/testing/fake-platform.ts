/**
 * A machine that a test controls: its clock, files, programs and randomness. `armed(ms)` waits until the code under test has
 * armed a timer of that length, so that no test sleeps.
 */
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Platform, ProcessOptions, ProcessResult } from "../platform.ts";

export class FakePlatform implements Platform {
  readonly clock = new VirtualClock();
  readonly files = new Map<string, string | Error>();
  readonly runs: { command: string; args: readonly string[]; options: ProcessOptions }[] = [];
  readonly reads: string[] = [];
  env: Record<string, string | undefined> = {};
  terminal = false;
  randomNumber = 0.5;
  /** What `runProcess` does. */
  program: (options: ProcessOptions, command: string) => ProcessResult | Promise<ProcessResult> = () => {
    throw Object.assign(new Error("spawn ENOENT"), { code: "ENOENT" });
  };

  random = (): number => this.randomNumber;
  isTerminal = (): boolean => this.terminal;

  readFile = async (path: string, maxBytes: number): Promise<string> => {
    this.reads.push(path);
    const content = this.files.get(path);
    if (content instanceof Error) throw content;
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
    if (content.length > maxBytes) throw Object.assign(new Error(`EFBIG: ${path}`), { code: "EFBIG" });
    return content;
  };

  runProcess = async (
    command: string,
    args: readonly string[],
    options: ProcessOptions,
  ): Promise<ProcessResult> => {
    this.runs.push({ command, args, options });
    return this.program(options, command);
  };

  /** Resolves when a timer is due in exactly `ms`. */
  async armed(ms: number): Promise<void> {
    while (!this.clock.dueInMs.includes(ms)) await new Promise(setImmediate);
  }
}

/** Credentials that send these headers. */
export function fixedCredentials(headers: Record<string, string> = {}) {
  return { headers: async () => headers, tls: async () => ({}), refresh: async () => {} };
}
