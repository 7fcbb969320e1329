/** Counts what happens to a child and to its watchdog. A new event or field of a supervisor needs one line here. */
import type { SupervisorSource } from "../source.ts";

export type CountedMetric =
  | "tenure_child_restarts_total"
  | "tenure_child_exits_total"
  | "tenure_child_check_failures_total"
  | "tenure_watchdog_replacements_total";

export class SupervisorCounts {
  readonly #supervisor: SupervisorSource;
  readonly #count: (metric: CountedMetric, labels?: Readonly<Record<string, string>>) => void;
  readonly #cleanups: (() => void)[];
  #watchdogPid: number | undefined;

  constructor(
    supervisor: SupervisorSource,
    count: (metric: CountedMetric, labels?: Readonly<Record<string, string>>) => void,
  ) {
    this.#supervisor = supervisor;
    this.#count = count;
    this.#cleanups = [
      supervisor.on("child", ({ type, restarts = 0, exit }) => {
        if (type === "started" && restarts > 0) count("tenure_child_restarts_total");
        if (type === "exited" && exit)
          count("tenure_child_exits_total", {
            code: exit.code === undefined ? "" : String(exit.code),
            signal: exit.signal ?? "",
          });
        this.isWatchdogRunning();
      }),
      supervisor.on("health", ({ failures }) => {
        if (failures > 0) count("tenure_child_check_failures_total");
      }),
    ];
  }

  /** Also counts a replacement. Two replacements between two calls count as one. */
  isWatchdogRunning(): boolean {
    const { running, pid } = this.#supervisor.status().watchdog;
    if (pid !== undefined) {
      if (this.#watchdogPid !== undefined && pid !== this.#watchdogPid)
        this.#count("tenure_watchdog_replacements_total");
      this.#watchdogPid = pid;
    }
    return running;
  }

  close(): void {
    for (const cleanup of this.#cleanups) cleanup();
  }
}
