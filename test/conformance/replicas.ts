// Candidates of one election in this process, and a record of who works when.

import { Election, type ElectionOptions, type Lock } from "@tenure/election";
import { expect } from "vitest";
import { eventually } from "./locks-target.ts";

/** A long lease for slow machines, because only one test waits until it expires. Renewed often, so that tests see renewals. */
const timings = { leaseDuration: "60s", renewDeadline: "50s", retryPeriod: "500ms", renewInterval: "200ms" };

export interface Replica {
  readonly election: Election;
  readonly tokens: bigint[];
  readonly ended: string[];
  readonly errors: string[];
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export class Replicas {
  readonly all: Replica[] = [];
  /** The identities of those that work now. */
  readonly leaders: string[] = [];
  readonly #connect: () => Lock;
  #mostLeaders = 0;

  constructor(connect: () => Lock) {
    this.#connect = connect;
  }

  start(identity: string, options: Partial<ElectionOptions> = {}): Replica {
    const election = new Election({
      ...timings,
      lock: this.#connect(),
      identity,
      onOverrun: "report",
      ...options,
    });
    const tokens: bigint[] = [];
    const ended: string[] = [];
    const errors: string[] = [];
    election.on("term-ended", ({ reason, released }) =>
      ended.push(`${reason}${released ? " released" : ""}`),
    );
    election.on("error", ({ error }) => errors.push(error.message));
    const shutdown = new AbortController();
    const work = async ({ signal, token }: { signal: AbortSignal; token: string }) => {
      this.leaders.push(identity);
      this.#mostLeaders = Math.max(this.#mostLeaders, this.leaders.length);
      tokens.push(BigInt(token));
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      this.leaders.splice(this.leaders.indexOf(identity), 1);
    };
    const done = election.run(work, shutdown);
    done.catch(() => {});
    const stop = async () => {
      shutdown.abort();
      await done.catch(() => {});
    };
    const replica = { election, tokens, ended, errors, done, stop };
    this.all.push(replica);
    return replica;
  }

  /** Stops all, and fails if two ever worked at the same time. */
  async stop(): Promise<void> {
    await Promise.all(this.all.map((replica) => replica.stop()));
    expect(this.#mostLeaders).toBeLessThanOrEqual(1);
  }
}

export function leads(replica: Replica, term = 1): Promise<void> {
  return eventually(
    () => replica.tokens.length >= term && replica.election.term !== undefined,
    `term ${term} begins`,
  );
}
