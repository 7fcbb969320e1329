/** A platform for the tests of this package. It records the output, and tests raise its signals. */
import { type Clock, systemClock } from "@tenure/base";
import type { Platform } from "../platform.ts";

export interface FakePlatform extends Platform {
  /** Everything written to stdout. */
  printed: string;
  /** Everything written to stderr. */
  complained: string;
  /** Resolves with the first output. */
  firstOutput: Promise<void>;
  /** Sends SIGTERM. */
  interrupt(): void;
  /** Presses keys on the terminal. */
  press(keys: string): void;
  /** Sends a signal to its listeners. */
  raise(signal: NodeJS.Signals): void;
}

export interface FakeOptions {
  home: string;
  env?: Record<string, string>;
  isTerminal?: boolean;
  clock?: Clock;
}

/** Time passes, but the wall clock always shows the same moment. */
const frozenWallClock: Clock = {
  now: () => ({ ...systemClock.now(), wallMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678) }),
  at: systemClock.at,
};

export function fakePlatform(args: string | string[], options: FakeOptions): FakePlatform {
  let onOutput = () => {};
  const listeners = new Set<{ signal: string; listener: () => void }>();
  const keyListeners = new Set<(keys: string) => void>();
  const isTerminal = options.isTerminal ?? false;
  const platform: FakePlatform = {
    args: typeof args === "string" ? args.split(" ").filter(Boolean) : args,
    env: (name) => platform.environment()[name],
    environment: () => ({ ...options.env }),
    homeDirectory: () => options.home,
    hostName: () => "host-1",
    isTerminal,
    isErrorTerminal: isTerminal,
    isInputTerminal: isTerminal,
    terminal: { columns: () => 80, rows: () => 24, onResize: () => () => {} },
    pid: 1,
    uid: () => 0,
    parent: () => 1,
    parents: () => [1],
    printed: "",
    complained: "",
    firstOutput: new Promise((resolve) => {
      onOutput = resolve;
    }),
    out(text) {
      platform.printed += text;
      onOutput();
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
    onKey(listener) {
      keyListeners.add(listener);
      return () => keyListeners.delete(listener);
    },
    press(keys) {
      for (const listener of [...keyListeners]) listener(keys);
    },
    interrupt: () => platform.raise("SIGTERM"),
    onSignal(signal, listener) {
      const entry = { signal, listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    raise(signal) {
      for (const entry of [...listeners]) if (entry.signal === signal) entry.listener();
    },
    clock: options.clock ?? frozenWallClock,
    backgroundClock: options.clock ?? frozenWallClock,
    exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
  return platform;
}
