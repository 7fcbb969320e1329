/**
 * Rolling updates from stage to stage of a migration, as a Deployment does them: one replica after the other. An update to the
 * last stage waits until no process of the first stage is left, because the two share no lock object.
 */
import type { MigrationPlan } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";

/** Which lock objects a process uses: only the old one, both, or only the new one. */
export type Stage = 0 | 1 | 2;

interface RolloutWorld {
  readonly scheduler: Scheduler;
  readonly slotCount: number;
  /** The stages of all processes that have not ended. */
  livingStages(): readonly Stage[];
  isDead(slot: number): boolean;
  shutdown(slot: number): void;
  restart(slot: number): void;
}

export class Rollout {
  readonly #world: RolloutWorld;
  readonly #stages: Stage[];
  readonly #stopping = new Set<number>();
  readonly #paceMs: number;
  #target: Stage;
  #mayStopMore = true;

  constructor(plan: MigrationPlan, world: RolloutWorld) {
    this.#world = world;
    this.#paceMs = plan.paceMs;
    this.#target = plan.firstStage;
    this.#stages = Array.from({ length: world.slotCount }, () => plan.firstStage);
    for (const atMs of plan.rolloutsMs) world.scheduler.at(atMs, () => this.#begin());
  }

  stageOf(slot: number): Stage {
    return this.#stages[slot] ?? 0;
  }

  /** No further process is stopped. Those that are stopping already are replaced. */
  end(): void {
    this.#mayStopMore = false;
  }

  #begin(): void {
    const isComplete = this.#stages.every((stage) => stage === this.#target);
    const isBlocked = this.#target === 1 && this.#world.livingStages().includes(0);
    if (isComplete && !isBlocked) {
      this.#target = this.#target === 0 ? 1 : 2;
      this.#step();
    } else if (this.#mayStopMore) this.#world.scheduler.after(this.#paceMs, () => this.#begin());
  }

  #step(): void {
    const slot = this.#stages.findIndex((stage) => stage !== this.#target);
    if (slot < 0) return;
    if (this.#world.isDead(slot)) {
      this.#stages[slot] = this.#target;
      this.#world.restart(slot);
    } else if (!this.#stopping.has(slot) && this.#mayStopMore) {
      this.#stopping.add(slot);
      this.#world.shutdown(slot);
    } else if (!this.#stopping.has(slot)) return;
    if (this.#stages[slot] === this.#target) this.#stopping.delete(slot);
    this.#world.scheduler.after(this.#paceMs, () => this.#step());
  }
}
