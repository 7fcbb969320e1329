/** Runs the histories in testdata. The commands are explained in testdata/README.md. */
import { parseDuration } from "@tenure/base";
import type { LockView, Orders } from "../record.ts";
import { resolveTimings } from "../timings.ts";
import type { Answer, Effect, Failure } from "../types.ts";
import { describeEffect, describeState, time } from "./describe.ts";
import { LockServer } from "./lock-server.ts";
import { record, uid } from "./records.ts";
import { acceptedBy, failure, type Respond, TestCandidate, type Write } from "./test-candidate.ts";

/** Plays a history and returns its text with the actual output after each `----`. */
export function runHistory(text: string): string {
  const runner = new HistoryRunner();
  const output: string[] = [];
  let results: string[] = [];
  let isExpectation = false;
  for (const line of text.split("\n")) {
    if (line === "----") {
      output.push(line, ...(results.length > 0 ? results : ["(nothing)"]));
      results = [];
      isExpectation = true;
    } else if (!isExpectation) {
      output.push(line);
      if (line !== "" && !line.startsWith("#")) results.push(...runner.command(line));
    } else if (line === "") {
      output.push(line);
      isExpectation = false;
    }
  }
  if (results.length > 0) throw new Error("the last command has no expected output: end it with ----");
  return output.join("\n");
}

type Arguments = { readonly flags: ReadonlySet<string>; readonly fields: ReadonlyMap<string, string> };

class HistoryRunner {
  #candidate = new TestCandidate();
  readonly #writes = new Map<number, Write>();
  #server: LockServer | undefined;

  command(line: string): string[] {
    const [name = "", ...rest] = line.trim().split(/\s+/);
    const from = this.#candidate.effects.length;
    const lines: string[] = [];
    this.#candidate.onStep = (_event, effects) => {
      for (const effect of effects) lines.push(this.#format(effect));
    };
    const shown = this.#run(name, rest, parseArguments(rest));
    for (const effect of this.#candidate.effects.slice(from)) {
      if (effect.type === "write") this.#writes.set(effect.id, effect);
    }
    return [...lines, ...shown];
  }

  #format(effect: Effect): string {
    return `${time(this.#candidate.monoMs).padEnd(8)} ${describeEffect(effect)}`;
  }

  #run(name: string, rest: readonly string[], args: Arguments): string[] {
    const candidate = this.#candidate;
    switch (name) {
      case "candidate":
        this.#candidate = newCandidate(args);
        return [];
      case "start":
      case "stop":
      case "tick":
        candidate.send({ type: name });
        return [];
      case "step-down":
      case "work-stopped":
        candidate.send({ type: name, cooldownMs: ms(args.fields.get("cooldown") ?? "0s") });
        return [];
      case "watch":
        candidate.send({ type: args.flags.has("up") ? "watch-up" : "watch-down" });
        return [];
      case "observe":
        candidate.observed(this.#view(args));
        return [];
      case "deleted":
        candidate.deleted(Number(args.fields.get("rev")));
        return [];
      case "answer":
        candidate.answer(
          this.#answer(rest[0], args),
          args.fields.has("to") ? Number(args.fields.get("to")) : undefined,
        );
        return [];
      case "at":
        candidate.wait(ms(rest[0]) - candidate.monoMs);
        return [];
      case "wait":
        candidate.wait(ms(rest[0]));
        return [];
      case "outage":
        candidate.run(ms(rest[0]), () => ({ kind: "failed", failure: failure(failureKind(args)) }));
        return [];
      case "serve":
        candidate.run(ms(rest[0]), this.#respond(), 10);
        return [];
      case "freeze":
        candidate.freeze(ms(rest[0]));
        return [];
      case "wall":
        candidate.suspend((rest[0]?.startsWith("-") ? -1 : 1) * ms(rest[0]?.slice(1)));
        return [];
      case "show":
        return describeState(candidate);
      default:
        throw new Error(`unknown command: ${name}`);
    }
  }

  /** A working API server that starts with the lock as this candidate knows it. */
  #respond(): Respond {
    const { lock } = this.#candidate.state;
    this.#server = new LockServer(lock.kind === "present" ? lock.view : undefined);
    return this.#server.answer;
  }

  #answer(kind: string | undefined, args: Arguments): Answer {
    switch (kind) {
      case "ok":
      case "found":
        return { kind: "found", view: kind === "ok" ? this.#written(args) : this.#view(args) };
      case "absent":
      case "conflict":
        return { kind };
      default: {
        const retryAfter = args.fields.get("retry-after");
        return {
          kind: "failed",
          failure: failure(failureKind(args), retryAfter === undefined ? undefined : ms(retryAfter)),
        };
      }
    }
  }

  /** `write=3`: the record of request 3. `same`: the known record in a new version. Otherwise a record with these fields. */
  #view(args: Arguments): LockView {
    const { fields, flags } = args;
    if (fields.has("write")) return this.#written(args);
    const revision = fields.get("rev") ?? "0";
    const { lock } = this.#candidate.state;
    const orders = parseOrders(fields.get("orders"));
    if (flags.has("same") && lock.kind === "present") {
      return { ...lock.view, version: revision, revision: BigInt(revision), ...orders };
    }
    const holder = fields.get("holder") ?? "nobody";
    const duration = fields.get("duration");
    return {
      uid: fields.get("uid") ?? uid,
      version: revision,
      revision: BigInt(revision),
      record: record({
        holderIdentity: holder === "nobody" ? "" : holder,
        leaseDurationSeconds: duration === undefined ? (holder === "nobody" ? 1 : 15) : ms(duration) / 1_000,
        renewTime: fields.get("renewed") ?? `renewal ${revision}`,
        leaseTransitions: Number(fields.get("transitions") ?? 0),
      }),
      ...orders,
    };
  }

  #written({ fields }: Arguments): LockView {
    const { request } = this.#candidate;
    if (request?.type === "accept" && !fields.has("write"))
      return acceptedBy(request, BigInt(fields.get("rev") ?? "0"));
    const write = fields.has("write")
      ? this.#writes.get(Number(fields.get("write")))
      : this.#candidate.lastWrite;
    if (!write) throw new Error("no request with this number was a write");
    const view = this.#candidate.committed(BigInt(fields.get("rev") ?? "0"), write);
    return { ...view, uid: fields.get("uid") ?? view.uid };
  }
}

function newCandidate({ flags, fields }: Arguments): TestCandidate {
  const option = (name: string, word: string) => {
    const value = fields.get(word);
    return value === undefined ? {} : { [name]: value };
  };
  return new TestCandidate({
    identity: fields.get("identity") ?? "a",
    timings: resolveTimings({
      ...option("leaseDuration", "lease"),
      ...option("renewDeadline", "renew"),
      ...option("retryPeriod", "retry"),
    }),
    waitWhenAbsent: flags.has("wait-when-absent"),
    failWhenDenied: flags.has("fail-when-denied"),
  });
}

/** `orders=pause`, `orders=resume`, `orders=step-down:3`, `orders=transfer:3:b`, `orders=transfer:3:b:accepted`. */
function parseOrders(text: string | undefined): { orders?: Orders } {
  if (text === undefined) return {};
  const [kind, transitions, to = "", answer] = text.split(":");
  switch (kind) {
    case "pause":
      return { orders: { paused: true } };
    case "resume":
      return { orders: {} };
    case "step-down":
      return { orders: { stepDown: Number(transitions) } };
    case "transfer":
      return {
        orders: {
          transfer: {
            transitions: Number(transitions),
            to,
            ...(answer === "accepted" && { accepted: true }),
          },
        },
      };
    default:
      throw new Error(`unknown orders: ${text}`);
  }
}

function parseArguments(rest: readonly string[]): Arguments {
  const flags = new Set<string>();
  const fields = new Map<string, string>();
  for (const argument of rest) {
    const [name = "", value] = argument.split("=");
    if (value === undefined) flags.add(name);
    else fields.set(name, value);
  }
  return { flags, fields };
}

function failureKind({ flags }: Arguments): Failure["kind"] {
  const kinds = ["unreachable", "timeout", "denied", "throttled", "server", "unreadable"] as const;
  return kinds.find((kind) => flags.has(kind)) ?? "unreachable";
}

function ms(text: string | undefined): number {
  const value = parseDuration(text);
  if (value === undefined) throw new Error(`not a duration: ${text}`);
  return value;
}
