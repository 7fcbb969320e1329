/** `tenure run -- command`: name, options and help. Its action loads run.ts, which does the work. */
import type { Command } from "commander";
import { addLogOptions } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../settings/connection-options.ts";
import { addElectionOptions } from "../../settings/election-options.ts";
import { addConfigOption, settingsHelp } from "../../settings/settings.ts";
import { addTrafficOptions } from "../../settings/traffic-options.ts";
import { addChildOptions } from "./child-flags.ts";

const help = `
The leader runs the command; the other replicas wait. When leadership ends on purpose (SIGTERM, Ctrl-C, an unhealthy child, an
order to step down), the child gets --stop-signal and has --stop-timeout to stop. The lock is released only after the child and all
its descendants have exited, and the next leader starts within milliseconds. When leadership is lost, the child and its
descendants are dead before another leader may start. A watchdog process guarantees that even if tenure is frozen or killed.

Examples:
  tenure run --lease-lock-name reports -- node worker.js
  tenure run --lease-lock-name reports --ready http://127.0.0.1:8080/ready --health http://127.0.0.1:8080/health -- ./server
  tenure run --lease-lock-name migrate --once v42 -- ./migrate.sh       # one replica runs it to its end, the others see that it is done
  tenure run --lease-lock-name nightly --wait 30s -- ./report.sh        # give up if another replica leads
  tenure run --lease-lock-name billing --shards 16 -- node worker.js    # every replica runs it for its share of the shards
  tenure run --lease-lock-name crawler --permits 2 -- ./crawl           # two replicas run it at the same time
  tenure run --config tenure.yaml                                       # the file may contain command: [node, worker.js]

Without a cluster: run \`tenure sandbox\` in one terminal, then in others
  tenure run --kubeconfig ~/.tenure/sandbox.kubeconfig --lease-lock-name demo --id 1 -- sh -c 'while sleep 1; do date; done'

Values of --ready:
  spawn                        ready as soon as it runs
  fd:N                         it writes a newline to file descriptor N, like programs under s6
  ipc                          it sends the message "ready": process.send("ready") in Node
  log:REGEX                    it prints a line that matches
  file:PATH                    this file appears
  and every value of --health, repeated until the check succeeds

Values of --health:
  http://HOST:PORT/PATH        a GET returns a status from 200 to 399; https:// works too
  tcp://HOST:PORT              a connection is accepted
  grpc://HOST:PORT[/SERVICE]   grpc.health.v1 returns SERVING
  exec:COMMAND                 the command exits with 0; run by the shell, or directly: exec:["cat", "/tmp/ok"]

Warm standby (--warm), for programs that take long to start:
  The child runs on every replica. tenure sends it {"tenure":"begin","token":"42"} when its term begins and {"tenure":"end"} when
  its term ends, one line each on the file descriptor in NODE_CHANNEL_FD (in Node: the event "message" of process). The child
  writes the line "stopped", with the quotes, when its work has stopped (in Node: send("stopped") of process). It has the time of
  a child that is asked to stop. After that it is killed and started again.

Environment of the child, in addition to that of tenure:
  TENURE_IDENTITY       identity of this replica, which leads
  TENURE_ELECTION       namespace/name of the lock
  TENURE_TOKEN          fencing token, greater with every term; pass it to your storage, which must reject lower ones;
                        with --warm it is in the message instead
  TENURE_DEADLINE_FILE  file with the time until which the child may work, updated at every renewal
With --shards also:
  TENURE_SHARD           number of the shard of this child, from 0
  TENURE_SHARD_COUNT     number of shards that is in force
  TENURE_SHARD_RANGE     hashes (FNV-1a, 64 bits) of the keys of the shard: 0xSTART-0xEND, without the end
  TENURE_SHARD_SELECTOR  the same as a shardSelector of Kubernetes, for the uids of objects
With --permits also:
  TENURE_PERMIT          number of the permit, from 0

A hook is a command for the shell, or a JSON list of words: ["mount", "/data"]. It has the environment of the child, and TENURE_ROLE
(leader or follower). It runs as the user of tenure, and prints to tenure's stdout and stderr.

Signals to tenure:
  SIGTERM, SIGINT       stop the child, release the lock, exit; a replica that does not lead exits at once
  a later one           do not wait for the child: kill it and its descendants, then exit; signals within 500 ms of the
                        first one count as the same request, because timeout and npx signal twice
  SIGHUP                as SIGTERM if stdin, stdout or stderr is a terminal, which was closed then; otherwise forwarded to the child
  SIGUSR1, SIGUSR2      forwarded to the child
If npx or npm run started tenure, the end of npm counts as SIGTERM.

Exit codes:
  0    stopped when asked to, and the child stopped by itself; with --once: the work is done
  1    the child had to be killed, or tenure could not continue
  2    wrong usage, or no cluster configured
  3    refused: another process has this identity, or (with --fail-when-denied) rights are missing
  4    this replica did not become the leader within --wait; with --once: it was stopped before the work was done
  126  the command is not executable
  127  the command does not exist
  with --on-exit exit or --once: the exit code of the child, or 128 + N if signal N ended it

${settingsHelp}`;

export function declareRun(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("run")
    .usage("[options] -- command [args...]")
    .description("Run a command on exactly one replica at a time")
    .argument("[command...]", "program for the leader to run, with its arguments")
    .passThroughOptions();
  addElectionOptions(command);
  addConnectionOptions(command, "elect");
  addChildOptions(command);
  addTrafficOptions(command);
  addLogOptions(command);
  addConfigOption(command);
  command.addHelpText("after", help).action(async (typed: string[], _flags: unknown, declared: Command) => {
    const { runCommand } = await import("./run.ts");
    end(await runCommand(typed, declared, platform));
  });
}
