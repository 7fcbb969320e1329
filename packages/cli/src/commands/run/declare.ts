// `tenure run -- command`: names, options and help. The work is in run.ts, which the action loads.

import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { addConnectionOptions } from "../../shared/connection.ts";
import { addElectionOptions } from "../../shared/election-options.ts";
import { addLogOptions } from "../../shared/log.ts";
import { addConfigOption, settingsHelp } from "../../shared/settings.ts";
import { addTrafficOptions } from "../../shared/traffic-options.ts";
import { addChildOptions } from "./options.ts";

const help = `
Whoever leads runs the command; the other replicas wait. When leadership ends on purpose (SIGTERM, Ctrl-C, unhealthy, an
order to step down) the child gets SIGTERM and --stop-timeout, and only when nothing of it is left is the lock released:
the next leader starts within milliseconds. When leadership is lost, the child and all that it started are gone before
another leader may start. A watchdog process sees to that also if tenure itself is frozen or killed.

Examples:
  tenure run --lease-lock-name reports -- node worker.js
  tenure run --lease-lock-name reports --ready http://127.0.0.1:8080/ready --health http://127.0.0.1:8080/health -- ./server
  tenure run --lease-lock-name migrate --on-exit exit -- ./migrate.sh   # a job that runs on exactly one replica
  tenure run --config tenure.yaml                                       # also the command: [node, worker.js]

Without a cluster: \`tenure sandbox\` in one terminal, then in others
  tenure run --kubeconfig ~/.tenure/sandbox.kubeconfig --lease-lock-name demo --id 1 -- sh -c 'while sleep 1; do date; done'

When the child is ready, for --ready:
  spawn                        as soon as it runs
  fd:N                         it writes a newline to file descriptor N, as programs under s6 do
  ipc                          it sends the message "ready": process.send("ready") in Node
  log:REGEX                    a line that it prints matches
  file:PATH                    this file appears
  and all that --health has, asked again and again until it succeeds

What is asked of the child, for --health:
  http://HOST:PORT/PATH        a GET is answered with 200 to 399; https:// too
  tcp://HOST:PORT              a connection is accepted
  grpc://HOST:PORT[/SERVICE]   grpc.health.v1 says SERVING
  exec:COMMAND                 exits with 0; run by the shell, or as it is: exec:["cat", "/tmp/ok"]

What the child finds in its environment, besides everything that tenure has:
  TENURE_IDENTITY       who leads: this replica
  TENURE_ELECTION       namespace/name of the lock
  TENURE_TOKEN          fencing token: greater with every term; give it to your storage, and let that refuse lower ones
  TENURE_DEADLINE_FILE  file with the moment up to which the child may work, written at every renewal

Signals to tenure:
  SIGTERM, SIGINT       stop the child, release the lock, end; before leadership: end at once
  once more             do not wait for the child any longer: kill it, see that nothing is left, end
  SIGHUP, SIGUSR1, SIGUSR2   are passed on to the child

Exit codes:
  0    ended as it was asked to, and the child stopped by itself
  1    the child had to be killed, or tenure could not go on
  2    the command line is wrong, or there is no cluster
  3    refused: somebody else has this identity; or no rights, with --fail-when-denied
  126  the command is there and cannot be run
  127  the command is not there
  with --on-exit exit: that of the child, 128 + N if signal N ended it

${settingsHelp}`;

export function declareRun(program: Command, platform: Platform, end: (exitCode: number) => void): void {
  const command = program
    .command("run")
    .usage("[options] -- command [args...]")
    .description("Run a command on exactly one of the replicas, and never on two at once")
    .argument("[command...]", "the program that the leader runs, and its arguments")
    .passThroughOptions();
  addElectionOptions(command);
  addConnectionOptions(command, "elect");
  addChildOptions(command);
  addTrafficOptions(command);
  addLogOptions(command);
  addConfigOption(command);
  command.addHelpText("after", help).action(async (typed: string[], _flags: unknown, declared: Command) => {
    const { run } = await import("./run.ts");
    end(await run(typed, declared, platform));
  });
}
