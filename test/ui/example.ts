/** A history with everything that a page can show, for the pictures. */
import type { Observation } from "@tenure/ui";

const startMs = Date.UTC(2030, 4, 6, 9, 30);
const endMs = startMs + 300_000;

class Story {
  readonly seen: Observation[] = [];
  readonly #election: string;
  #transitions = 0;
  #revision: number;

  constructor(election: string, revision: number) {
    this.#election = election;
    this.#revision = revision;
  }

  at(second: number, seen: Record<string, unknown>): this {
    this.seen.push({ atMs: startMs + second * 1_000, election: this.#election, ...seen } as Observation);
    return this;
  }

  /** Leads and renews until a second, with reports. */
  leads(id: string, from: number, to: number, orders: object = {}): this {
    const acquired = `${id} ${this.#transitions}`;
    this.#revision += 17;
    const token = String(this.#revision);
    const lock = {
      kind: "lock",
      holder: id,
      transitions: this.#transitions,
      leaseMs: 15_000,
      acquired,
      token,
    };
    this.at(from, lock);
    this.#reports(from + 0.02, id, "leader", { token, deadlineInMs: 14_000 });
    for (let second = from + 3; second < to; second += 3) {
      this.at(second, { kind: "renewed" });
      this.#reports(second + 0.01, id, "leader", { token, deadlineInMs: 14_000 });
    }
    if (Object.keys(orders).length > 0) this.at(to - 0.1, { ...lock, orders });
    return this;
  }

  releases(second: number, id: string, orders: object = {}): this {
    this.at(second, { kind: "lock", holder: "", transitions: this.#transitions, leaseMs: 1_000, orders });
    this.#reports(second + 0.001, id, "follower");
    this.#transitions += 1;
    return this;
  }

  lost(): this {
    this.#transitions += 1;
    return this;
  }

  #reports(second: number, id: string, phase: string, more: object = {}): void {
    const works = phase === "leader";
    this.at(second, { kind: "replica", id, phase, works, healthy: true, message: "", ...more });
  }

  follows(second: number, ...ids: string[]): this {
    for (const id of ids) this.#reports(second, id, "follower");
    return this;
  }
}

export function exampleObservations(): Observation[] {
  const billing = new Story("prod/billing", 48_100)
    .follows(0, "billing-7d9f5-kq2xz", "billing-7d9f5-m4tzp", "billing-7d9f5-xw8rl")
    .leads("billing-7d9f5-kq2xz", 1, 62)
    .releases(62, "billing-7d9f5-kq2xz")
    .leads("billing-7d9f5-m4tzp", 62.041, 140)
    .at(141, { kind: "lost", id: "billing-7d9f5-m4tzp" })
    .lost()
    .leads("billing-7d9f5-xw8rl", 155.1, 215, { transferTo: "billing-7d9f5-kq2xz", transferAccepted: true })
    .releases(215, "billing-7d9f5-xw8rl")
    .leads("billing-7d9f5-kq2xz", 215.06, 300)
    .follows(216, "billing-7d9f5-xw8rl");
  const orders = new Story("prod/orders", 51_000)
    .follows(0, "orders-0", "orders-1")
    .leads("orders-0", 2, 90, { paused: true, pausedBy: "alice", pauseReason: "database upgrade" })
    .releases(90, "orders-0")
    .at(150, { kind: "lock", holder: "", transitions: 1, leaseMs: 1_000 })
    .leads("orders-1", 150.2, 236)
    .lost()
    .leads("orders-0", 251.3, 300);
  const paused = new Story("prod/reports", 60_000)
    .follows(0, "reports-a", "reports-b")
    .leads("reports-a", 3, 260, { paused: true, pausedBy: "bob", pauseReason: "month-end close" })
    .releases(260, "reports-a", { paused: true, pausedBy: "bob", pauseReason: "month-end close" });
  const foreign = new Story("kube-system/kube-scheduler", 1_000)
    .at(1, {
      kind: "lock",
      holder: "control-plane-1_5f3a",
      transitions: 12,
      leaseMs: 15_000,
      acquired: "x",
      heldForMs: 86_400_000,
    })
    .at(298, { kind: "renewed" });
  for (let second = 3; second < 298; second += 2) foreign.at(second, { kind: "renewed" });
  const owners = (moved: boolean) =>
    Array.from(
      { length: 16 },
      (_, share) => ["worker-0", "worker-1", moved && share > 11 ? "worker-2" : "worker-1"][share % 3],
    );
  const shards = new Story("prod/ingest.shards", 70_000)
    .at(1, { kind: "shares", owners: owners(false) })
    .at(120, { kind: "shares", owners: owners(true) });
  const all = [billing, orders, paused, foreign, shards].flatMap(({ seen }) => seen);
  return [...all, { kind: "time", atMs: endMs } as const].sort((a, b) => a.atMs - b.atMs);
}
