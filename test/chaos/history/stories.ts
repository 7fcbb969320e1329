/** Histories for tests, told by workers. */
import { type Entry, type Invocation, readHistory } from "./history.mjs";
import { judge } from "./judge.mjs";

const run: Entry = { kind: "run", target: "test", seed: 1, replicas: 2, leaseMs: 3_000 };

/** A worker that writes a history. */
export class Worker {
  #op = 0;
  #last = "";

  readonly #id: string;
  readonly #token: number;
  readonly #pid: number;
  readonly #facts: Partial<Invocation>;

  constructor(id: string, token: number, pid = 1, facts: Partial<Invocation> = {}) {
    this.#id = id;
    this.#token = token;
    this.#pid = pid;
    this.#facts = facts;
  }

  #invoke(atMs: number, facts: Partial<Invocation>): Invocation {
    const [id, token, pid] = [this.#id, String(this.#token), this.#pid];
    const common = { kind: "invoke", op: ++this.#op, pid, id, token, atMs } as const;
    return {
      ...common,
      what: "read",
      register: "open",
      untilMs: 99_999,
      checks: true,
      ...this.#facts,
      ...facts,
    };
  }

  read(atMs: number, seq: number, value: string, facts: Partial<Invocation> = {}): Entry[] {
    this.#last = value;
    const invoke = this.#invoke(atMs, facts);
    return [
      invoke,
      { kind: "return", op: invoke.op, pid: this.#pid, outcome: "ok", seq, value, atMs: atMs + 1 },
    ];
  }

  write(
    atMs: number,
    seq: number | "refused" | "unknown",
    value: string,
    facts: Partial<Invocation> & { takesMs?: number } = {},
  ): Entry[] {
    const { takesMs = 1, ...invocation } = facts;
    const invoke = this.#invoke(atMs, { what: "write", value, after: this.#last, ...invocation });
    if (seq === "unknown") return [invoke];
    const outcome = seq === "refused" ? "refused" : "ok";
    if (seq !== "refused") this.#last = value;
    const number = seq === "refused" ? 0 : seq;
    return [
      invoke,
      { kind: "return", op: invoke.op, pid: this.#pid, outcome, seq: number, atMs: atMs + takesMs },
    ];
  }
}

export const verdictOf = async (entries: Entry[]) =>
  judge(await readHistory([run, ...entries].map((entry) => JSON.stringify(entry))));

export const kindsOf = async (entries: Entry[]) =>
  (await verdictOf(entries)).violations.map(({ kind }) => kind);

export const fenced = { register: "fenced" } as const;
export const killed = { checks: false } as const;

/** Two terms, one after the other. */
export function good(facts: Partial<Invocation> = {}): Entry[] {
  const a = new Worker("a", 10, 1, facts);
  const b = new Worker("b", 20, 2, facts);
  return [
    ...a.read(100, 0, ""),
    ...a.write(110, 1, "a1"),
    ...a.write(120, 2, "a2"),
    ...b.read(200, 2, "a2"),
    ...b.write(210, 3, "b1"),
    { kind: "ended", id: "a", token: "10", atMs: 150 },
  ];
}
