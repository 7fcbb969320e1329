/**
 * A machine in which nothing happens by itself: time moves when the test moves it, files and programs are what the test
 * says, chance is always the middle. `timer(ms)` waits for the code under test to arm a timer, so that no test sleeps.
 */
import type { Platform, RunOptions, RunResult } from "../platform.ts";

type Timer = { readonly at: number; readonly ms: number; readonly callback: () => void };

export class FakePlatform implements Platform {
  readonly files = new Map<string, string | Error>();
  readonly runs: { command: string; args: readonly string[]; options: RunOptions }[] = [];
  readonly reads: string[] = [];
  env: Record<string, string | undefined> = {};
  terminal = false;
  chance = 0.5;
  /** What `run` does. */
  program: (options: RunOptions, command: string) => RunResult | Promise<RunResult> = () => {
    throw Object.assign(new Error("spawn ENOENT"), { code: "ENOENT" });
  };
  #nowMs = Date.UTC(2030, 0, 1);
  readonly #timers = new Set<Timer>();
  readonly #waiters = new Set<{ matches: (ms: number) => boolean; resolve: () => void }>();

  now = (): number => this.#nowMs;
  monotonicMs = (): number => this.#nowMs - Date.UTC(2029, 0, 1);
  random = (): number => this.chance;
  isTerminal = (): boolean => this.terminal;

  setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.#nowMs + ms, ms, callback };
    this.#timers.add(timer);
    for (const waiter of [...this.#waiters]) {
      if (!waiter.matches(ms)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
    return () => this.#timers.delete(timer);
  };

  readFile = async (path: string, maxBytes: number): Promise<string> => {
    this.reads.push(path);
    const content = this.files.get(path);
    if (content instanceof Error) throw content;
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
    if (content.length > maxBytes) throw Object.assign(new Error(`EFBIG: ${path}`), { code: "EFBIG" });
    return content;
  };

  run = async (command: string, args: readonly string[], options: RunOptions): Promise<RunResult> => {
    this.runs.push({ command, args, options });
    return this.program(options, command);
  };

  get timers(): number[] {
    return [...this.#timers].map(({ ms }) => ms);
  }

  /** Resolves when a timer of that length is pending. */
  timer(matches: number | ((ms: number) => boolean)): Promise<void> {
    const test = typeof matches === "number" ? (ms: number) => ms === matches : matches;
    if (this.timers.some(test)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.add({ matches: test, resolve });
    });
  }

  /** Moves time, calling what falls due, in order. */
  advance(ms: number): void {
    const end = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = Math.max(this.#nowMs, due.at);
      due.callback();
    }
    this.#nowMs = end;
  }
}

/** Credentials that are just these headers. */
export function fixedCredentials(headers: Record<string, string> = {}) {
  return { headers: async () => headers, tls: async () => ({}), refresh: async () => {} };
}
