import { describe, expect, it } from "vitest";
import type { Failure } from "../types.ts";
import {
  type CandidacyEvent,
  candidacyTimings,
  initialCandidacy,
  nextCandidacyMs,
  stepCandidacy,
} from "./candidacy.ts";

const unreachable: Failure = { kind: "unreachable", message: "no route" };

class Candidacy {
  state = initialCandidacy;
  monoMs = 0;
  wallMs = 1_000_000;
  readonly sent: string[] = [];

  send(event: CandidacyEvent): this {
    const at = { monoMs: this.monoMs, wallMs: this.wallMs };
    const { state, effects } = stepCandidacy(this.state, event, at, 0.5);
    this.state = state;
    for (const effect of effects)
      this.sent.push(effect.type === "renew" ? `renew ${effect.renewMs - 1_000_000}` : effect.type);
    return this;
  }

  pass(ms: number): this {
    this.monoMs += ms;
    this.wallMs += ms;
    return this.send({ type: "tick" });
  }

  answer = (failure?: Failure) => this.send({ type: "answer", failure });
  ping = (ms: number) => this.send({ type: "observed", pingTime: new Date(1_000_000 + ms).toISOString() });
}

const present = () => new Candidacy().send({ type: "start" }).answer();

describe("a candidate of a coordinated election", () => {
  it("creates its LeaseCandidate at once, and renews it every 5 minutes", () => {
    const candidacy = present();
    expect(candidacy.sent).toEqual(["renew 0"]);
    expect(nextCandidacyMs(candidacy.state)).toBe(candidacyTimings.renewMs);
    expect(candidacy.pass(299_999).sent).toHaveLength(1);
    expect(candidacy.pass(1).sent).toEqual(["renew 0", "renew 300000"]);
  });

  it("answers a ping at once, and only once", () => {
    const candidacy = present();
    candidacy.pass(10_000);
    expect(candidacy.ping(9_990).sent).toEqual(["renew 0", "renew 10000"]);
    expect(candidacy.answer().ping(9_990).sent).toHaveLength(2);
  });

  it("answers a ping of a server whose clock is ahead with a later time than that", () => {
    const candidacy = present();
    candidacy.pass(1_000);
    expect(candidacy.ping(60_000).sent.at(-1)).toBe("renew 60001");
    expect(candidacy.answer().pass(1).sent).toHaveLength(2);
  });

  it("answers a ping that arrives while a write is under way", () => {
    const candidacy = new Candidacy().send({ type: "start" });
    candidacy.ping(50);
    expect(candidacy.sent).toHaveLength(1);
    expect(candidacy.answer().sent).toEqual(["renew 0", "renew 51"]);
  });

  it("repeats a write that failed, soon and with growing pauses", () => {
    const candidacy = new Candidacy().send({ type: "start" }).answer(unreachable);
    expect(candidacy.sent).toEqual(["renew 0", "failed"]);
    const firstMs = nextCandidacyMs(candidacy.state);
    expect(firstMs).toBeLessThanOrEqual(candidacyTimings.firstRetryMs);
    candidacy.pass(firstMs).answer(unreachable);
    expect(nextCandidacyMs(candidacy.state) - candidacy.monoMs).toBeGreaterThan(firstMs);
  });

  it("creates its LeaseCandidate again if somebody deletes it", () => {
    expect(present().send({ type: "deleted" }).sent).toEqual(["renew 0", "renew 0"]);
  });

  it("removes it when it stops, also while a write is under way", () => {
    const candidacy = new Candidacy().send({ type: "start" }).send({ type: "stop" });
    expect(candidacy.sent).toEqual(["renew 0"]);
    expect(candidacy.answer(unreachable).sent.slice(-2)).toEqual(["failed", "remove"]);
    expect(candidacy.answer(unreachable).sent.at(-1)).toBe("gone");
    expect(nextCandidacyMs(candidacy.state)).toBe(Number.POSITIVE_INFINITY);
  });

  it("writes nothing after it was removed, whatever the server says", () => {
    const candidacy = present().send({ type: "stop" }).answer();
    candidacy.ping(5_000).send({ type: "deleted" }).pass(600_000);
    expect(candidacy.sent).toEqual(["renew 0", "remove", "gone"]);
  });

  it("waits 150 ms for the second attempt, on average, and reports why the first failed", () => {
    const started = stepCandidacy(initialCandidacy, { type: "start" }, { monoMs: 0, wallMs: 0 }, 0.5);
    const answer = { type: "answer", failure: unreachable } as const;
    const { state, effects } = stepCandidacy(started.state, answer, { monoMs: 10, wallMs: 10 }, 0.5);
    expect(effects).toEqual([{ type: "failed", failure: unreachable }]);
    expect(nextCandidacyMs(state)).toBe(160);
  });

  it("is gone after it was removed, and can start again", () => {
    const candidacy = present().send({ type: "stop" }).answer();
    expect(candidacy.state.phase).toBe("gone");
    expect(candidacy.send({ type: "start" }).sent.at(-1)).toBe("renew 0");
    const before = candidacy.state;
    expect(candidacy.send({ type: "start" }).state).toBe(before);
  });

  it("ignores a pingTime that is not a time", () => {
    expect(present().send({ type: "observed", pingTime: "soon" }).sent).toHaveLength(1);
  });
});
