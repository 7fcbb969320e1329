/** Runs the histories in testdata. The commands are explained in testdata/README.md. */
import { parseDuration } from "@tenure/base";
import type { LockView, Orders } from "../record.ts";
import { resolveTimings } from "../timings.ts";
import type { Answer, Effect, Failure } from "../types.ts";
import { record, uid } from "./records.ts";
import { failure, type Respond, Rig, type Write } from "./rig.ts";
import { LockServer } from "./server.ts";
import { describeEffect, describeState, time } from "./story.ts";

/** A history as it is written, with each expectation replaced by what really came out. */
export function runScript(text: string): string {
  const script = new Script();
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
      if (line !== "" && !line.startsWith("#")) results.push(...script.command(line));
    } else if (line === "") {
      output.push(line);
      isExpectation = false;
    }
  }
  if (results.length > 0) throw new Error("the last command has no expectation: end it with ----");
  return output.join("\n");
}

type Words = { readonly flags: ReadonlySet<string>; readonly fields: ReadonlyMap<string, string> };

class Script {
  #rig = new Rig();
  readonly #writes = new Map<number, Write>();
  #server: LockServer | undefined;

  command(line: string): string[] {
    const [name = "", ...rest] = line.trim().split(/\s+/);
    const from = this.#rig.effects.length;
    const lines: string[] = [];
    this.#rig.onStep = (_event, effects) => {
      for (const effect of effects) lines.push(this.#said(effect));
    };
    const said = this.#do(name, rest, words(rest));
    for (const effect of this.#rig.effects.slice(from)) {
      if (effect.type === "write") this.#writes.set(effect.id, effect);
    }
    return [...lines, ...said];
  }

  #said(effect: Effect): string {
    return `${time(this.#rig.monoMs).padEnd(8)} ${describeEffect(effect)}`;
  }

  #do(name: string, rest: readonly string[], given: Words): string[] {
    const rig = this.#rig;
    switch (name) {
      case "candidate":
        this.#rig = candidate(given);
        return [];
      case "start":
      case "stop":
      case "tick":
        rig.feed({ type: name });
        return [];
      case "step-down":
      case "work-stopped":
        rig.feed({ type: name, cooldownMs: ms(given.fields.get("cooldown") ?? "0s") });
        return [];
      case "watch":
        rig.feed({ type: given.flags.has("up") ? "watch-up" : "watch-down" });
        return [];
      case "observe":
        rig.observed(this.#view(given));
        return [];
      case "deleted":
        rig.deleted(Number(given.fields.get("rev")));
        return [];
      case "answer":
        rig.answer(
          this.#answer(rest[0], given),
          given.fields.has("to") ? Number(given.fields.get("to")) : undefined,
        );
        return [];
      case "at":
        rig.wait(ms(rest[0]) - rig.monoMs);
        return [];
      case "wait":
        rig.wait(ms(rest[0]));
        return [];
      case "outage":
        rig.run(ms(rest[0]), () => ({ kind: "failed", failure: failure(kindOf(given)) }));
        return [];
      case "serve":
        rig.run(ms(rest[0]), this.#respond(), 10);
        return [];
      case "freeze":
        rig.freeze(ms(rest[0]));
        return [];
      case "wall":
        rig.suspend((rest[0]?.startsWith("-") ? -1 : 1) * ms(rest[0]?.slice(1)));
        return [];
      case "show":
        return describeState(rig);
      default:
        throw new Error(`unknown command: ${name}`);
    }
  }

  /** An honest server that goes on from what this candidate knows. */
  #respond(): Respond {
    const { lock } = this.#rig.state;
    this.#server = new LockServer(lock.kind === "present" ? lock.view : undefined);
    return this.#server.answer;
  }

  #answer(kind: string | undefined, given: Words): Answer {
    switch (kind) {
      case "ok":
      case "found":
        return { kind: "found", view: kind === "ok" ? this.#written(given) : this.#view(given) };
      case "absent":
      case "conflict":
        return { kind };
      default: {
        const retryAfter = given.fields.get("retry-after");
        return {
          kind: "failed",
          failure: failure(kindOf(given), retryAfter === undefined ? undefined : ms(retryAfter)),
        };
      }
    }
  }

  /** `write=3`: what request 3 wrote. `same`: what is known, in a new version. Otherwise the fields. */
  #view(given: Words): LockView {
    const { fields, flags } = given;
    if (fields.has("write")) return this.#written(given);
    const revision = fields.get("rev") ?? "0";
    const { lock } = this.#rig.state;
    const orders = ordersIn(fields.get("orders"));
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

  #written({ fields }: Words): LockView {
    const write = fields.has("write") ? this.#writes.get(Number(fields.get("write"))) : this.#rig.lastWrite;
    if (!write) throw new Error("there was no such write");
    const view = this.#rig.committed(BigInt(fields.get("rev") ?? "0"), write);
    return { ...view, uid: fields.get("uid") ?? view.uid };
  }
}

function candidate({ flags, fields }: Words): Rig {
  const option = (name: string, word: string) => {
    const value = fields.get(word);
    return value === undefined ? {} : { [name]: value };
  };
  return new Rig({
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

/** `orders=pause`, `orders=resume`, `orders=step-down:3`, `orders=transfer:3:b`. */
function ordersIn(text: string | undefined): { orders?: Orders } {
  if (text === undefined) return {};
  const [what, transitions, to = ""] = text.split(":");
  switch (what) {
    case "pause":
      return { orders: { paused: true } };
    case "resume":
      return { orders: {} };
    case "step-down":
      return { orders: { stepDown: Number(transitions) } };
    case "transfer":
      return { orders: { transfer: { transitions: Number(transitions), to } } };
    default:
      throw new Error(`unknown orders: ${text}`);
  }
}

function words(rest: readonly string[]): Words {
  const flags = new Set<string>();
  const fields = new Map<string, string>();
  for (const word of rest) {
    const [name = "", value] = word.split("=");
    if (value === undefined) flags.add(name);
    else fields.set(name, value);
  }
  return { flags, fields };
}

function kindOf({ flags }: Words): Failure["kind"] {
  const kinds = ["unreachable", "timeout", "denied", "throttled", "server", "unreadable"] as const;
  return kinds.find((kind) => flags.has(kind)) ?? "unreachable";
}

function ms(text: string | undefined): number {
  const value = parseDuration(text);
  if (value === undefined) throw new Error(`not a duration: ${text}`);
  return value;
}
