/**
 * One seeded history of a set of shards. A stormy history has every fault, and then must calm down. A calm one has a good network
 * and members that come, go and crash one after another: then no shard may be unowned for long, and none may move in vain.
 *
 * A wide history runs everything that ships, over simulated HTTP. The others run only the two state machines, which is faster.
 */
import { nextTurn } from "@tenure/base";
import { credentialKinds } from "../http/pod.ts";
import { Random } from "../random.ts";
import { Scheduler } from "../scheduler.ts";
import { SetChecker, type SetViolation } from "./checker.ts";
import { type FaultName, faultNames, SetFaults, stormMs, wideFaultNames } from "./faults.ts";
import { SimulatedMember } from "./member.ts";
import type { MemberHooks, MemberOptions, Participant, SetPlace, Work } from "./participant.ts";
import { RealMember } from "./real-member.ts";
import { SetServer } from "./server.ts";
import { SetApi } from "./set-api.ts";

export interface SetHistory {
  readonly violations: readonly SetViolation[];
  readonly starts: number;
  readonly faults: number;
  readonly simulatedMs: number;
  readonly longestUnownedMs: number;
  readonly moved: number;
  readonly leastMoves: number;
  readonly lines: readonly string[];
}

/** Twice the longest lease, the longest stop, and some retries. */
const calmDownMs = 105_000;
/** In calm histories, and where all leases are the same. */
const longestLeaseSeconds = 20;
/** In stormy histories: a member with a long lease notices late that its watch is silent. */
const differentLeaseSeconds = [5, 10, 15, 20, 40] as const;

/** Which seeds run everything that ships. */
export type SetWidth = "wide" | "mixed";

export async function simulateSet(seed: number, width: SetWidth = "mixed"): Promise<SetHistory> {
  const world = new World(seed, width === "wide" || seed % 5 === 0);
  return seed % 4 === 0 ? world.calm() : world.storm();
}

class World {
  readonly #random: Random;
  readonly #scheduler = new Scheduler();
  readonly #place: SetPlace;
  readonly #newMember: (options: MemberOptions, hooks: MemberHooks) => Participant;
  /** undefined unless the history is wide. */
  readonly #api: SetApi | undefined;
  readonly #checker = new SetChecker();
  readonly #lines: string[] = [];
  readonly #members: Participant[] = [];
  readonly #isSemaphore: boolean;
  #count: number;
  /** With it, whoever creates the map waits for members that it cannot know of, because their leases were deleted, too. */
  readonly #waitWhenAbsent: boolean;
  readonly #leaseSeconds: number | undefined;
  readonly #faultNames: readonly FaultName[];
  readonly #faults: SetFaults;
  #names = 0;
  #checksUnowned = false;
  #isCalm = false;
  #moved = 0;
  #leastMoves = 0;

  constructor(seed: number, isWide: boolean) {
    this.#random = new Random(seed);
    this.#isSemaphore = this.#random.chance(0.2);
    this.#count = this.#isSemaphore ? this.#random.integer(1, 3) : this.#random.pick([1, 2, 3, 5, 8]);
    this.#waitWhenAbsent = this.#random.chance(0.5);
    // It waits for its own lease duration, so all must be the same.
    this.#leaseSeconds = this.#waitWhenAbsent ? this.#random.integer(10, longestLeaseSeconds) : undefined;
    const deletions = this.#waitWhenAbsent
      ? (["delete-map-and-lease", "delete-map", "delete-lease"] as const)
      : [this.#random.pick(["delete-map", "delete-lease"] as const)];
    this.#faultNames = [...faultNames, ...(isWide ? wideFaultNames : []), ...deletions];
    const scheduler = this.#scheduler;
    if (isWide) {
      const api = new SetApi(this.#isSemaphore ? "permits" : "shards", scheduler);
      this.#api = api;
      this.#place = api;
      this.#newMember = (options, hooks) => {
        // A plugin that fails now and then is a fault, too.
        const credentials = this.#isCalm ? "service-account" : this.#random.pick(credentialKinds);
        return new RealMember(options, { scheduler, api, random: this.#random.fork(), hooks, credentials });
      };
    } else {
      const server = new SetServer();
      this.#place = server;
      this.#newMember = (options, hooks) =>
        new SimulatedMember(options, scheduler, server, this.#random.fork(), hooks);
    }
    this.#faults = new SetFaults({
      random: this.#random,
      scheduler,
      place: this.#place,
      api: this.#api,
      members: this.#members,
      present: () => this.#present(),
      join: (identity) => this.#join(identity),
      changeCount: () => {
        if (!this.#isSemaphore) this.#count = this.#random.pick([1, 2, 3, 5, 8]);
      },
      note: (line) => this.#note(line),
    });
  }

  async storm(): Promise<SetHistory> {
    const random = this.#random;
    const size = random.integer(1, 4);
    for (let index = 0; index < size; index++)
      this.#scheduler.at(random.between(0, 10_000), () => this.#join());
    const faults = random.integer(3, 14);
    for (let index = 0; index < faults; index++) {
      this.#scheduler.at(random.between(5_000, stormMs), () =>
        this.#faults.cause(random.pick(this.#faultNames)),
      );
    }
    await this.#run(stormMs);
    this.#faults.endAll();
    if (this.#present().length === 0) this.#join();
    await this.#run(stormMs + calmDownMs);
    this.#checker.checkCalm(this.#present(), this.#agreedCount(), this.#mostPerMember());
    return this.#result(stormMs + calmDownMs);
  }

  async calm(): Promise<SetHistory> {
    const random = this.#random;
    this.#isCalm = true;
    const size = random.integer(1, 4);
    for (let index = 0; index < size; index++) this.#join();
    let nowMs = 60_000;
    await this.#run(nowMs);
    this.#checker.checkCalm(this.#present(), this.#count, this.#mostPerMember());
    this.#checker.forgetUnowned();
    this.#checksUnowned = true;
    for (let change = 0; change < 6; change++) {
      const sizes = this.#present().map((member) => member.works.size);
      const startsBefore = this.#checker.starts;
      const least = this.#changeMembers(sizes);
      nowMs += 40_000;
      await this.#run(nowMs);
      this.#checker.checkCalm(this.#present(), this.#count, this.#mostPerMember());
      const moved = this.#checker.starts - startsBefore;
      this.#moved += moved;
      this.#leastMoves += least;
      if (moved > least) this.#checker.violate("movement", `${moved} shards moved, and ${least} had to`);
    }
    return this.#result(nowMs);
  }

  /** Changes one member. Returns how many shards have to move. */
  #changeMembers(sizes: readonly number[]): number {
    const present = this.#present();
    const index = this.#random.integer(0, present.length - 1);
    const one = present[index] as Participant;
    if (present.length < 2 || (present.length < 5 && this.#random.chance(0.5))) {
      this.#join();
      return this.#leastStarts([...sizes, 0]);
    }
    if (this.#random.chance(0.5)) this.#log(`${one.options.identity} leaves`, () => one.leave());
    else this.#log(`${one.options.identity} crashes`, () => one.crash());
    return this.#leastStarts(sizes.filter((_, other) => other !== index));
  }

  /** How many shards must get another owner, if these are the numbers of shards that the members have. */
  #leastStarts(sizes: readonly number[]): number {
    const room = Math.min(this.#count, sizes.length * this.#mostPerMember());
    const free = room - sizes.reduce((sum, size) => sum + size, 0);
    return free + leastMoves(sizes, this.#count, this.#mostPerMember());
  }

  async #run(untilMs: number): Promise<void> {
    const leaseMs = longestLeaseSeconds * 1_000;
    // Whatever ships awaits in many places after an action.
    const settle = async () => {
      if (this.#api) await nextTurn();
    };
    await settle();
    await this.#scheduler.run(untilMs, async () => {
      await settle();
      this.#checker.check(this.#members);
      if (!this.#checksUnowned) return;
      const possible = Math.min(this.#count, this.#present().length * this.#mostPerMember());
      if (possible < this.#count) this.#checker.forgetUnowned();
      else this.#checker.checkUnowned(this.#members, this.#count, this.#scheduler.nowMs, leaseMs + 1_000);
    });
  }

  #join(identity = `m${++this.#names}`): void {
    const random = this.#random;
    const options: MemberOptions = {
      identity,
      count: this.#count,
      leaseSeconds:
        this.#leaseSeconds ??
        (this.#isCalm ? random.integer(10, longestLeaseSeconds) : random.pick(differentLeaseSeconds)),
      mostPerMember: this.#mostPerMember(),
      passOn: this.#isSemaphore,
      waitWhenAbsent: this.#waitWhenAbsent,
      rate: random.between(0.995, 1.005),
      stopMs: random.pick([0, 500, 3_000]),
    };
    const hooks = {
      started: (member: Participant, work: Work) => {
        this.#note(`${identity} starts ${work.shard} of ${work.count} with token ${work.token}`);
        this.#checker.started(member, work);
      },
      log: (line: string) => this.#note(line),
    };
    this.#log(`${identity} begins with count ${options.count}, lease ${options.leaseSeconds}s`, () =>
      this.#members.push(this.#newMember(options, hooks)),
    );
  }

  #present(): Participant[] {
    return this.#members.filter((member) => member.isAlive && !member.hasEnded && !member.isLeaving);
  }

  /** The count in force at the end: the one that all want, otherwise the one that they had before. */
  #agreedCount(): number {
    const wanted = new Set(this.#present().map(({ options }) => options.count));
    return wanted.size === 1 ? ([...wanted][0] as number) : (this.#place.map?.count ?? 0);
  }

  #mostPerMember(): number {
    return this.#isSemaphore ? 1 : Number.POSITIVE_INFINITY;
  }

  #log(line: string, action: () => void): void {
    this.#note(line);
    action();
  }

  #note(line: string): void {
    this.#lines.push(`${(this.#scheduler.nowMs / 1_000).toFixed(3).padStart(9)} ${line}`);
  }

  #result(simulatedMs: number): SetHistory {
    return {
      violations: this.#checker.violations,
      starts: this.#checker.starts,
      faults: this.#faults.count,
      simulatedMs,
      longestUnownedMs: this.#checker.longestUnownedMs,
      moved: this.#moved,
      leastMoves: this.#leastMoves,
      lines: this.#lines,
    };
  }
}

/** How many shards must move between members that stay, until they are distributed evenly. */
function leastMoves(sizes: readonly number[], count: number, mostPerMember: number): number {
  const share = Math.floor(count / sizes.length);
  const larger = count % sizes.length;
  const ranked = [...sizes].sort((a, b) => b - a);
  const excess = ranked.map((size, rank) => size - Math.min(mostPerMember, share + (rank < larger ? 1 : 0)));
  return excess.reduce((sum, one) => sum + Math.max(0, one), 0);
}
