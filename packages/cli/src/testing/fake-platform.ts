/** A process that is none: what was printed, and a signal to send. For the tests of this package. */
import type { Platform } from "../platform.ts";

export interface FakePlatform extends Platform {
  printed: string;
  complained: string;
  /** Resolves when something was printed. */
  firstOutput: Promise<void>;
  interrupt(): void;
  /** Sends a signal to whoever listens to it. */
  raise(signal: NodeJS.Signals): void;
}

export interface FakeOptions {
  home: string;
  env?: Record<string, string>;
  isTerminal?: boolean;
}

export function fakePlatform(args: string | string[], options: FakeOptions): FakePlatform {
  let interrupt = () => {};
  let printed = () => {};
  const signal = new Promise<string>((resolve) => {
    interrupt = () => resolve("SIGTERM");
  });
  const listeners = new Set<{ signal: string; listener: () => void }>();
  const isTerminal = options.isTerminal ?? false;
  const platform: FakePlatform = {
    args: typeof args === "string" ? args.split(" ").filter(Boolean) : args,
    env: (name) => platform.environment()[name],
    environment: () => ({ ...options.env }),
    homeDirectory: () => options.home,
    isTerminal,
    isErrorTerminal: isTerminal,
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
    async write(descriptor, bytes) {
      const text = new TextDecoder().decode(bytes);
      if (descriptor === 1) platform.out(text);
      else platform.err(text);
      return bytes.length;
    },
    stopSignal: () => signal,
    interrupt,
    onSignal(signal, listener) {
      const entry = { signal, listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    raise(signal) {
      for (const entry of [...listeners]) if (entry.signal === signal) entry.listener();
    },
    wallMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    after(ms, callback) {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
    every(ms, callback) {
      const timer = setInterval(callback, ms);
      return () => clearInterval(timer);
    },
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
  return platform;
}
