/** Plays the histories in testdata/shards. The commands are explained in testdata/shards/README.md. */
import { parseDuration } from "@tenure/base";
import { Random } from "../random.ts";
import { Scheduler } from "../scheduler.ts";
import { SetChecker } from "./checker.ts";
import { SimulatedMember } from "./member.ts";
import { goodLink, type Participant, type Work } from "./participant.ts";
import { SetServer } from "./server.ts";

/** Plays a history and returns its text with the actual output after each `----`. */
export async function runSetHistory(text: string): Promise<string> {
  const runner = new HistoryRunner();
  const output: string[] = [];
  let isExpectation = false;
  for (const line of text.split("\n")) {
    if (line === "----") {
      const lines = runner.takeLines();
      output.push(line, ...(lines.length > 0 ? lines : ["(nothing)"]));
      isExpectation = true;
    } else if (!isExpectation) {
      output.push(line);
      if (line !== "" && !line.startsWith("#")) await runner.command(line);
    } else if (line === "") {
      output.push(line);
      isExpectation = false;
    }
  }
  return output.join("\n");
}

/** Every message takes equally long, and nothing is lost by chance. */
class NoChance extends Random {
  override readonly next = (): number => 0.5;
}

class HistoryRunner {
  readonly #random = new NoChance(1);
  readonly #scheduler = new Scheduler();
  readonly #server = new SetServer();
  readonly #checker = new SetChecker();
  readonly #members = new Map<string, SimulatedMember>();
  #lines: string[] = [];

  takeLines(): string[] {
    const violations = this.#checker.violations.map(({ rule, message }) => `VIOLATION ${rule}: ${message}`);
    const lines = [...this.#lines, ...violations];
    this.#lines = [];
    return lines;
  }

  async command(line: string): Promise<void> {
    const [name = "", subject = "", ...rest] = line.trim().split(/\s+/);
    const fields = new Map(rest.map((field) => field.split("=") as [string, string]));
    if (name === "member") {
      this.#join(subject, fields);
      return;
    }
    if (name === "run") {
      await this.#scheduler.run(this.#scheduler.nowMs + ms(subject), async () =>
        this.#checker.check([...this.#members.values()]),
      );
      return;
    }
    if (name === "delete" || name === "unlabel") {
      this.#server[name](subject);
      return;
    }
    const member = this.#members.get(subject);
    if (!member) throw new Error(`there is no member ${subject}: ${line}`);
    switch (name) {
      case "leave":
        return member.leave();
      case "crash":
        return member.crash();
      case "freeze":
        return member.freeze();
      case "thaw":
        return member.thaw(0);
      case "cut":
        return member.disturb({ isCut: true });
      case "silence":
        return member.disturb({ isWatchSilent: true });
      case "heal":
        return member.disturb(goodLink);
      case "break-watch":
        return member.breakWatch();
      case "end-work":
        return member.endWork(Number(rest[0]));
      default:
        throw new Error(`unknown command: ${line}`);
    }
  }

  #join(identity: string, fields: ReadonlyMap<string, string>): void {
    const permits = fields.get("permits");
    const options = {
      identity,
      count: Number(permits ?? fields.get("count") ?? 4),
      leaseSeconds: ms(fields.get("lease") ?? "15s") / 1_000,
      mostPerMember: permits === undefined ? Number.POSITIVE_INFINITY : 1,
      passOn: permits !== undefined,
      waitWhenAbsent: fields.get("wait-when-absent") === "yes",
      rate: 1,
      stopMs: 2 * ms(fields.get("stop") ?? "0s"),
    };
    const hooks = {
      started: (member: Participant, work: Work) => {
        this.#note(`${identity} starts ${work.shard} of ${work.count} with token ${work.token}`);
        this.#checker.started(member, work);
      },
      log: (line: string) => this.#note(line),
    };
    this.#members.set(
      identity,
      new SimulatedMember(options, this.#scheduler, this.#server, this.#random, hooks),
    );
  }

  #note(line: string): void {
    this.#lines.push(`${(this.#scheduler.nowMs / 1_000).toFixed(3)}s`.padEnd(9) + line);
  }
}

function ms(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new Error(`not a duration: ${text}`);
  return value;
}
