/** The inputs and results of one step. The functions change `state`, whose maps are copied before their first change. */
import type { Instant } from "@tenure/base";
import type { KnownLease, SetConfig, SetEffect, SetState, ShardTerm } from "./types.ts";

export type MutableState = { -readonly [K in keyof SetState]: SetState[K] };

export class StepSet {
  readonly config: SetConfig;
  readonly at: Instant;
  /** A number in [0, 1). */
  readonly random: number;
  readonly effects: SetEffect[] = [];
  readonly state: MutableState;
  readonly #before: SetState;

  constructor(config: SetConfig, state: SetState, at: Instant, random: number) {
    this.config = config;
    this.at = at;
    this.random = random;
    this.#before = state;
    this.state = { ...state };
  }

  leases(): Map<string, KnownLease> {
    if (this.state.leases === this.#before.leases) this.state.leases = new Map(this.#before.leases);
    return this.state.leases as Map<string, KnownLease>;
  }

  deletions(): Map<string, bigint> {
    if (this.state.deletions === this.#before.deletions)
      this.state.deletions = new Map(this.#before.deletions);
    return this.state.deletions as Map<string, bigint>;
  }

  terms(): Map<number, ShardTerm> {
    if (this.state.terms === this.#before.terms) this.state.terms = new Map(this.#before.terms);
    return this.state.terms as Map<number, ShardTerm>;
  }

  lastTokens(): Map<number, bigint> {
    if (this.state.lastTokens === this.#before.lastTokens)
      this.state.lastTokens = new Map(this.#before.lastTokens);
    return this.state.lastTokens as Map<number, bigint>;
  }
}
