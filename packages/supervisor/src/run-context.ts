/** The parts of one run. The supervisor creates them once; they do not know each other. */
import type { Clock } from "@tenure/base";
import type { GateGroup } from "@tenure/traffic/internal";
import type { ChildEnd } from "./child-end.ts";
import type { DeadlineFile } from "./deadline-file.ts";
import type { SupervisedTerm } from "./election-seam.ts";
import type { ChildEvent, HealthEvent } from "./events.ts";
import type { PhaseEvent } from "./phase.ts";
import type { ProcessManager } from "./process/manager.ts";
import type { Program } from "./process/spawn.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Watchdog } from "./watchdog/watchdog.ts";

export interface RunContext {
  readonly options: ResolvedOptions;
  readonly clock: Clock;
  readonly manager: ProcessManager;
  readonly watchdog: Watchdog;
  readonly gates: GateGroup;
  readonly deadlineFile: DeadlineFile;
  /** The signal that aborts when the watchdog died and was not replaced in time. A new one follows each abort. */
  readonly unguarded: () => AbortSignal;
  readonly programFor: (term: SupervisedTerm) => Program;
  readonly enterPhase: (event: PhaseEvent) => void;
  readonly onChild: (event: ChildEvent) => void;
  readonly onHealth: (event: HealthEvent) => void;
  readonly onError: (error: Error) => void;
  /** Ends the run with the exit code that belongs to this end of the child. */
  readonly endRun: (end: ChildEnd) => void;
}
