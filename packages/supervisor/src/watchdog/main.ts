/**
 * The program of the watchdog: `node main.js MARKER SUPERVISOR_PID`. It reads the messages of the supervisor from stdin. The end
 * of stdin means that the supervisor has ended. Imports as little as possible, to need little memory.
 */
import { rmSync } from "node:fs";
import { systemClock } from "@tenure/base";
import {
  endProcess,
  ignoreSignal,
  ownArguments,
  ownPid,
  ownStdin,
  ownStdout,
  setTitle,
} from "../platform.ts";
import { childCgroup } from "../process/child-cgroup.ts";
import { procTable } from "../process/process-table.ts";
import { ProcessTree } from "../process/process-tree.ts";
import { Guard } from "./guard.ts";
import { type FromWatchdog, messageReader, type ToWatchdog, toLine } from "./protocol.ts";

const [marker = "", supervisor = ""] = ownArguments;
setTitle(`tenure-watchdog of ${supervisor}`);
// A service manager such as systemd signals all processes of a service. The watchdog must outlive the processes that it guards.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const) ignoreSignal(signal);

const stdout = ownStdout();
// The supervisor is dead, and does not need the message.
stdout.on("error", () => {});
const send = (message: FromWatchdog) => stdout.write(toLine(message));

/** A file that cannot be removed must not keep the watchdog from killing. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}

const cgroup = childCgroup(marker);
const guard = new Guard({
  tree: new ProcessTree({
    marker,
    table: procTable(),
    clock: systemClock,
    supervisor: Number(supervisor),
    excluded: () => [ownPid],
    cgroup,
  }),
  clock: systemClock,
  send,
  remove,
  exit: () => {
    cgroup.remove();
    endProcess(0);
  },
});

const read = messageReader<ToWatchdog>((message) => guard.onMessage(message));
const onEnd = () => void guard.onSupervisorEnd();
ownStdin().setEncoding("utf8").on("data", read).once("end", onEnd).once("error", onEnd);
send({ type: "answer", question: 0 });
