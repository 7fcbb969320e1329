/**
 * Watches a simulated set from outside. It knows the true time and sees every process.
 *
 * - double: two members may work on the same key at the same instant (G1).
 * - token: a term whose token is not greater than every earlier one of its keys (G2).
 * - unowned: nobody works on a shard for longer than the longest lease and a second, without any fault but crashes (G4).
 * - uneven: after everything has calmed down, shards are unowned or not distributed evenly.
 * - movement: a change of the members moved more shards than necessary.
 */
import type { Participant, Work } from "./participant.ts";

export type SetRule = "double" | "token" | "unowned" | "uneven" | "movement";

export interface SetViolation {
  readonly rule: SetRule;
  readonly message: string;
}

export class SetChecker {
  readonly violations: SetViolation[] = [];
  starts = 0;
  longestUnownedMs = 0;
  readonly #works: Work[] = [];
  #unownedSince = new Map<number, number>();

  violate(rule: SetRule, message: string): void {
    this.violations.push({ rule, message });
  }

  started(member: Participant, work: Work): void {
    this.starts += 1;
    const earlier = this.#works.find((other) => overlaps(work, other) && other.token >= work.token);
    if (earlier) {
      this.violate(
        "token",
        `${member.options.identity} got token ${work.token} after ${earlier.token} for ${name(work)}`,
      );
    }
    this.#works.push(work);
  }

  /** Called after every event. */
  check(members: readonly Participant[]): void {
    const active: { readonly member: Participant; readonly work: Work }[] = [];
    for (const member of members) for (const work of member.working) active.push({ member, work });
    for (const [index, { member, work }] of active.entries()) {
      const other = active.slice(0, index).find((one) => overlaps(one.work, work));
      if (!other) continue;
      const names = [other, { member, work }].map(
        (one) => `${one.member.options.identity} on ${name(one.work)}`,
      );
      this.violate("double", `${names.join(" and ")} work at the same time`);
    }
  }

  /** Records for how long shards have been unowned, and reports those that were it for too long. */
  checkUnowned(members: readonly Participant[], count: number, nowMs: number, mostMs: number): void {
    const worked = new Set(members.flatMap(({ working }) => working.map(({ shard }) => shard)));
    const since = new Map<number, number>();
    for (let shard = 0; shard < count; shard++) {
      if (worked.has(shard)) continue;
      const sinceMs = this.#unownedSince.get(shard) ?? nowMs;
      since.set(shard, sinceMs);
      this.longestUnownedMs = Math.max(this.longestUnownedMs, nowMs - sinceMs);
      if (nowMs - sinceMs > mostMs) {
        this.violate(
          "unowned",
          `nobody has worked on shard ${shard} of ${count} for ${Math.round(nowMs - sinceMs)} ms`,
        );
        since.delete(shard);
      }
    }
    this.#unownedSince = since;
  }

  forgetUnowned(): void {
    this.#unownedSince = new Map();
  }

  /** Everything has calmed down: every shard is worked on, and the members differ by no more than one. */
  checkCalm(members: readonly Participant[], count: number, mostPerMember: number): void {
    const sizes = members.map(({ working }) => working.length);
    const expected = Math.min(count, members.length * mostPerMember);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const counts = new Set(members.flatMap(({ working }) => working.map((work) => work.count)));
    if (
      total !== expected ||
      Math.max(...sizes) - Math.min(...sizes) > 1 ||
      [...counts].some((one) => one !== count)
    ) {
      this.violate(
        "uneven",
        `${total} of ${expected} shards are worked on, as ${sizes.join(", ")}, by counts ${[...counts]}`,
      );
    }
  }
}

function overlaps(a: Work, b: Work): boolean {
  return a !== b && a.start < b.end && b.start < a.end;
}

function name({ shard, count, token }: Work): string {
  return `shard ${shard} of ${count} with token ${token}`;
}
