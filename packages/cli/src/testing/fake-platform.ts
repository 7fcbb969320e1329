// A process that is none: what was printed, and a signal to send. For the tests of this package.

import type { Platform } from "../platform.ts";

export interface FakePlatform extends Platform {
  printed: string;
  complained: string;
  /** Resolves when something was printed. */
  firstOutput: Promise<void>;
  interrupt(): void;
}

export function fakePlatform(
  args: string,
  options: { home: string; env?: Record<string, string>; isTerminal?: boolean },
): FakePlatform {
  let interrupt = () => {};
  let printed = () => {};
  const signal = new Promise<string>((resolve) => {
    interrupt = () => resolve("SIGTERM");
  });
  const platform: FakePlatform = {
    args: args.split(" ").filter(Boolean),
    env: (name) => options.env?.[name],
    homeDirectory: () => options.home,
    isTerminal: options.isTerminal ?? false,
    pid: 1,
    printed: "",
    complained: "",
    firstOutput: new Promise((resolve) => {
      printed = resolve;
    }),
    out(text) {
      platform.printed += text;
      printed();
    },
    err(text) {
      platform.complained += text;
    },
    stopSignal: () => signal,
    interrupt,
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
  return platform;
}
