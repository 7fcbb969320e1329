/**
 * Candidates of all stages of a migration, with the real core and the real protocol, in virtual time. The two objects are in
 * one store. Messages are delayed, lost before or after the commit, and may arrive after the candidate gave up on them.
 * It checks after every event that no two candidates may work (G1), and that tokens grow (G2).
 */
import type { Instant } from "@tenure/base";
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import { nextWriteStep, observeViews, type Side } from "../locks/migration-protocol.ts";
import type { Stage } from "./rollout.ts";
import { type Protocol, type Surroundings, WorldCandidate } from "./world-candidate.ts";

export const realProtocol: Protocol = { observeViews, nextWriteStep };

export class MigrationWorld implements Surroundings {
  readonly protocol: Protocol;
  readonly random: () => number;
  readonly violations: string[] = [];
  readonly candidates: WorldCandidate[] = [];
  readonly objects: Record<Side, LockView | undefined> = { from: undefined, to: undefined };
  lossRate = 0;
  latencyMs = 50;
  nowMs = 1_000;
  terms = 0;
  #lastToken = -1n;
  #revision = 0n;
  /** What happens later, the latest first. */
  readonly #queue: { readonly atMs: number; readonly run: () => void }[] = [];

  constructor(seed: number, protocol: Protocol = realProtocol) {
    this.protocol = protocol;
    let state = seed;
    this.random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 4_294_967_296;
    };
  }

  get at(): Instant {
    return { monoMs: this.nowMs, wallMs: this.nowMs };
  }

  get leaders(): string[] {
    return this.candidates.filter((candidate) => candidate.mayWork).map(({ identity }) => identity);
  }

  start(identity: string, stage: Stage, leaseSeconds = 15): WorldCandidate {
    const candidate = new WorldCandidate(this, identity, stage, leaseSeconds);
    this.candidates.push(candidate);
    candidate.send({ type: "start" });
    candidate.send({ type: "watch-up" });
    return candidate;
  }

  after(ms: number, run: () => void): void {
    const atMs = this.nowMs + Math.max(ms, 0);
    let index = this.#queue.length;
    while (index > 0 && (this.#queue[index - 1]?.atMs ?? 0) <= atMs) index -= 1;
    this.#queue.splice(index, 0, { atMs, run });
  }

  /** Moves time, and runs everything that is due, in order. */
  pass(ms: number): void {
    const endMs = this.nowMs + ms;
    for (let next = this.#queue.at(-1); next && next.atMs <= endMs; next = this.#queue.at(-1)) {
      this.#queue.pop();
      this.nowMs = next.atMs;
      next.run();
      this.#check();
    }
    this.nowMs = endMs;
  }

  readObject(side: Side): Answer {
    const view = this.objects[side];
    return view ? { kind: "found", view } : { kind: "absent" };
  }

  writeObject(side: Side, record: LeaderRecord, over: LockView | undefined): Answer {
    const before = this.objects[side];
    if (over && !before) return { kind: "absent" };
    if (over?.version !== before?.version) return { kind: "conflict" };
    return { kind: "found", view: this.put(side, record) };
  }

  /** Writes the record, or touches only the metadata if it is undefined. */
  put(side: Side, record = this.objects[side]?.record): LockView {
    this.#revision += 1n;
    const version = String(this.#revision);
    const uid = this.objects[side]?.uid ?? `uid-${version}`;
    const view = { uid, version, revision: this.#revision, record: record as LeaderRecord };
    this.objects[side] = view;
    for (const candidate of this.candidates) candidate.watched(side, view);
    return view;
  }

  /** Deletes the object. False if a candidate does not know it: such a candidate cannot know its holder either. */
  delete(side: Side): boolean {
    const view = this.objects[side];
    if (!view || this.candidates.some((candidate) => !candidate.knows(side, view))) return false;
    this.#revision += 1n;
    const revision = this.#revision;
    this.objects[side] = undefined;
    for (const candidate of this.candidates) candidate.watched(side, revision);
    return true;
  }

  termStarted(token: bigint): void {
    this.terms += 1;
    if (token <= this.#lastToken) this.violations.push(`token ${token} after ${this.#lastToken}`);
    this.#lastToken = token;
  }

  #check(): void {
    if (this.leaders.length > 1) this.violations.push(`at ${this.nowMs}: ${this.leaders.join(" and ")} lead`);
  }
}
