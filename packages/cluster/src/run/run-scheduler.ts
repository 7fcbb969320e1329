/** The scheduler, on one replica at a time. */
import { scheduler } from "../scheduler/scheduler.ts";
import { type ElectedOptions, runElected } from "./run-elected.ts";

/** Runs the scheduler while this process leads, until the signal aborts. */
export async function runScheduler(options: ElectedOptions): Promise<void> {
  await runElected("tenure-scheduler", [scheduler], options);
}
