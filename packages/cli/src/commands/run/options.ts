// The flags of `tenure run` that speak of the child. Cheap to load; what checks them is in check.ts.

import { type Command, Option } from "commander";
import type { ConnectionFlags } from "../../shared/connection.ts";
import type { ElectionFlags } from "../../shared/election-options.ts";
import type { LogFlags } from "../../shared/log.ts";
import type { TrafficFlags } from "../../shared/traffic-options.ts";

export interface ChildFlags {
  ready?: string;
  startTimeout?: string;
  stopTimeout?: string;
  killMargin?: string;
  podGracePeriod?: string;
  childShutdown?: string;
  childDrain?: string;
  cwd?: string;
  logPrefix?: string;
  deadlineFolder?: string;
  health?: string;
  healthPeriod?: string;
  healthTimeout?: string;
  healthDelay?: string;
  healthThreshold?: string;
  onExit?: string;
  maxRestarts?: string;
  restartWindow?: string;
}

export type RunFlags = ConnectionFlags &
  ElectionFlags &
  LogFlags &
  ChildFlags &
  TrafficFlags & { command?: string[] };

export function addChildOptions(command: Command): void {
  const groups: Record<string, Option[]> = {
    "Child:": [
      new Option("--ready <how>", "when the child is ready, in one of the ways below (default: spawn)"),
      new Option(
        "--start-timeout <duration>",
        "not ready for so long: leadership is given up (default: 60s)",
      ),
      new Option(
        "--stop-timeout <duration>",
        "how long the child may take to stop, then SIGKILL (default: 25s)",
      ),
      new Option(
        "--pod-grace-period <duration>",
        "terminationGracePeriodSeconds of the pod, which --stop-timeout must fit into (default: 30s in a pod, else unknown)",
      ),
      new Option(
        "--child-shutdown <duration>",
        "how long the child itself takes to shut down, to check that it fits",
      ),
      new Option(
        "--child-drain <duration>",
        "how long the child lets work in flight finish, to check that it fits",
      ),
      new Option(
        "--kill-margin <duration>",
        "how long before the hard deadline of a lost term the child is killed (default: 500ms)",
      ),
      new Option("--cwd <directory>", "where the child runs (default: here)"),
      new Option(
        "--deadline-folder <directory>",
        "where the file of TENURE_DEADLINE_FILE is made (default: $TMPDIR, else /tmp)",
      ),
      new Option(
        "--log-prefix <text>",
        "put before each line that the child prints (default: it prints by itself)",
      ),
    ],
    "Health:": [
      new Option(
        "--health <check>",
        "what is asked of the child, in one of the ways below; when it fails, the child is restarted",
      ),
      new Option("--health-period <duration>", "from one check to the next (default: 10s)"),
      new Option("--health-timeout <duration>", "a check that takes longer has failed (default: 1s)"),
      new Option("--health-delay <duration>", "from ready to the first check (default: 0s)"),
      new Option("--health-threshold <number>", "so many failures in a row: unhealthy (default: 3)"),
    ],
    "When the child ends:": [
      new Option(
        "--on-exit <what>",
        "restart: start it again; release: give leadership up; exit: end with its exit code (default: restart)",
      ),
      new Option(
        "--max-restarts <number>",
        "so many restarts within the window; after that leadership is given up (default: 5)",
      ),
      new Option("--restart-window <duration>", "(default: 10m)"),
    ],
  };
  for (const [heading, options] of Object.entries(groups)) {
    for (const option of options) command.addOption(option.helpGroup(heading));
  }
}
