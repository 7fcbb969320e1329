/** The flags of `tenure run` about the child. Cheap to load; child-options.ts checks them. */
import { formatDuration } from "@tenure/base";
import { supervisorDefaults as defaults, exitActions, unhealthyActions } from "@tenure/supervisor/options";
import { type Command, Option } from "commander";
import type { LogFlags } from "../../log/log.ts";
import type { ConnectionFlags } from "../../settings/connection-options.ts";
import type { ElectionFlags } from "../../settings/election-options.ts";
import { offer } from "../../settings/flag-values.ts";
import type { TrafficFlags } from "../../settings/traffic-options.ts";
import type { HookFlags } from "./hooks.ts";

export interface ChildFlags extends HookFlags {
  ready?: string;
  startTimeout?: string;
  stopTimeout?: string;
  stopSignal?: string;
  killMode?: string;
  killMargin?: string;
  podGracePeriod?: string;
  childShutdown?: string;
  childDrain?: string;
  cwd?: string;
  user?: string;
  rlimit?: string;
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
  once?: string;
  wait?: string;
  whenUnhealthy?: string;
  warm?: boolean;
  shards?: string;
  permits?: string;
}

export type RunFlags = ConnectionFlags &
  ElectionFlags &
  LogFlags &
  ChildFlags &
  TrafficFlags & { command?: string[] };

const defaultOf = (ms: number) => `(default: ${formatDuration(ms)})`;

const exitHelp: Readonly<Record<(typeof exitActions)[number], string>> = {
  restart: "start it again",
  release: "give up leadership",
  exit: "exit with its exit code",
};

const unhealthyHelp: Readonly<Record<(typeof unhealthyActions)[number], string>> = {
  yield: "give up again, for longer each time",
  lead: "keep leadership, because no replica is healthier",
};

export function addChildOptions(command: Command): void {
  const groups: Record<string, Option[]> = {
    "Election:": [
      new Option(
        "--shards <number>",
        "divide the work into this many shards; each replica runs the command once for each shard that it owns",
      ),
      new Option(
        "--permits <number>",
        "let this many replicas run the command at the same time, instead of one",
      ),
      new Option(
        "--wait <duration>",
        "exit with code 4 if this replica has not become the leader in time (default: wait forever)",
      ),
    ],
    "Child:": [
      new Option("--ready <check>", "when the child is ready; see below (default: spawn)"),
      new Option(
        "--start-timeout <duration>",
        `give up leadership if the child is not ready in time ${defaultOf(defaults.startTimeoutMs)}`,
      ),
      new Option(
        "--stop-timeout <duration>",
        `how long the child may take to stop before SIGKILL, which goes to all its descendants too ${defaultOf(defaults.stopTimeoutMs)}`,
      ),
      offer(
        new Option(
          "--stop-signal <signal>",
          `signal that asks the child to stop (default: ${defaults.stopSignal})`,
        ),
        ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2"],
      ),
      offer(
        new Option(
          "--kill-mode <mode>",
          `which processes get that signal first: process (the child alone), group (its process group) or tree (all its descendants too); what is left when the child has exited gets it then (default: ${defaults.killMode})`,
        ),
        ["process", "group", "tree"],
      ),
      new Option(
        "--pod-grace-period <duration>",
        `terminationGracePeriodSeconds of the pod, which must be longer than --stop-timeout (default: ${formatDuration(defaults.podGraceMs)} in a pod, else not checked)`,
      ),
      new Option(
        "--child-shutdown <duration>",
        "how long the child needs to shut down, to check that it fits into --stop-timeout",
      ),
      new Option(
        "--child-drain <duration>",
        "how long the child lets work in flight finish, to check that it fits into its shutdown",
      ),
      new Option(
        "--kill-margin <duration>",
        `how long before the hard deadline of a lost term the child is killed ${defaultOf(defaults.killMarginMs)}`,
      ),
      new Option(
        "--warm",
        "run the child on every replica, and tell it when its term begins and ends; see `Warm standby` below",
      ),
      new Option("--cwd <directory>", "working directory of the child (default: the current one)"),
      new Option(
        "--user <user>",
        "user and group that the child runs as, if tenure runs as root: NAME, UID, NAME:GROUP or UID:GID (default: those of tenure)",
      ),
      new Option(
        "--rlimit <limit>",
        "soft limit of open files, as nofile=1024; needs the program prlimit (default: what the process had that started tenure)",
      ),
      new Option(
        "--deadline-folder <directory>",
        "where to create the file of TENURE_DEADLINE_FILE (default: $TMPDIR, else /tmp)",
      ),
      new Option(
        "--log-prefix <text>",
        "text to put before each line that the child prints (default: the child's output is not touched)",
      ),
    ],
    "Health:": [
      new Option(
        "--health <check>",
        "how to check the child's health; see below. An unhealthy child is restarted",
      ),
      new Option(
        "--health-period <duration>",
        `interval between checks ${defaultOf(defaults.healthPeriodMs)}`,
      ),
      new Option(
        "--health-timeout <duration>",
        `a check that takes longer fails ${defaultOf(defaults.healthTimeoutMs)}`,
      ),
      new Option(
        "--health-delay <duration>",
        `wait from ready to the first check (default: ${defaults.healthDelayMs / 1_000}s)`,
      ),
      new Option(
        "--health-threshold <number>",
        `failed checks in a row that make the child unhealthy (default: ${defaults.healthThreshold})`,
      ),
    ],
    "Hooks:": [
      new Option(
        "--pre-start <command>",
        "command to run before each start of the child; if it fails, the child counts as not started",
      ),
      new Option(
        "--post-stop <command>",
        "command to run when the child and its descendants have exited, before the lock is released and within --stop-timeout",
      ),
      new Option(
        "--on-role-change <command>",
        "command to run when this replica becomes the leader or a follower again; TENURE_ROLE says which. Nothing waits for it",
      ),
      new Option(
        "--hook-timeout <duration>",
        `a hook that takes longer is killed and has failed ${defaultOf(defaults.hookTimeoutMs)}`,
      ),
    ],
    "When the child exits:": [
      new Option(
        "--once <name>",
        "run the command to its end on one replica: record on the lock that this name is done, and exit with 0; the others exit with 0 without running it",
      ),
      offer(
        new Option(
          "--on-exit <action>",
          `${exitActions.map((action) => `${action}: ${exitHelp[action]}`).join("; ")} (default: ${defaults.onExit}; with --once: exit)`,
        ),
        exitActions,
      ),
      new Option(
        "--max-restarts <number>",
        `give up leadership after this many restarts within the window (default: ${defaults.maxRestarts})`,
      ),
      new Option(
        "--restart-window <duration>",
        `window for --max-restarts ${defaultOf(defaults.restartWindowMs)}`,
      ),
      offer(
        new Option(
          "--when-unhealthy <action>",
          `if the child fails again after this replica gave up and was elected again. ${unhealthyActions
            .map((action) => `${action}: ${unhealthyHelp[action]}`)
            .join("; ")} (default: ${defaults.whenUnhealthy})`,
        ),
        unhealthyActions,
      ),
    ],
  };
  for (const [heading, options] of Object.entries(groups)) {
    for (const option of options) command.addOption(option.helpGroup(heading));
  }
}
