// All that the command takes from the process it runs in. Nothing else in this package may touch it.

import { homedir } from "node:os";
import { join } from "node:path";

export interface Platform {
  /** What was typed behind the name of the command. */
  args: string[];
  env(name: string): string | undefined;
  homeDirectory(): string;
  /** Whether a person looks at the output. */
  isTerminal: boolean;
  out(text: string): void;
  err(text: string): void;
  pid: number;
  /** Resolves with the first signal that asks to stop; a second one ends the process at once. */
  stopSignal(): Promise<string>;
  exit(code: number): never;
}

export const systemPlatform: Platform = {
  args: process.argv.slice(2),
  env: (name) => process.env[name],
  homeDirectory: () => homedir(),
  isTerminal: process.stdout.isTTY === true,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  pid: process.pid,
  stopSignal: () =>
    new Promise((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(signal));
    }),
  exit: (code) => process.exit(code),
};

export const defaultKubeconfigPath = (platform: Platform) =>
  join(platform.homeDirectory(), ".tenure", "sandbox.kubeconfig");
