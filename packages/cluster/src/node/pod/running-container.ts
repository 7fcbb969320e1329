/** A container that runs: its process, and how to reach into it. */
import type { GuardedProcess } from "@tenure/supervisor/internal";
import type { ContainerPlan, Isolation, Launch } from "../isolation/isolation.ts";
import type { ContainerLog } from "../logs/container-log.ts";

export interface RunningContainer {
  readonly name: string;
  readonly attempt: number;
  readonly process: GuardedProcess;
  readonly log: ContainerLog;
  /** How to run another program in it. What it starts does not outlive the container. */
  enter(argv: readonly string[]): Launch;
}

export function runningContainer(
  name: string,
  attempt: number,
  started: GuardedProcess,
  log: ContainerLog,
  plan: ContainerPlan,
  isolation: Isolation,
): RunningContainer {
  return {
    name,
    attempt,
    process: started,
    log,
    enter(argv) {
      const launch = isolation.enter(plan, started.pid, argv);
      return { ...launch, env: { ...launch.env, ...started.marker } };
    },
  };
}
