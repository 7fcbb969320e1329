/**
 * The program of the watchdog: `node main.js MARKER SUPERVISOR_PID`. It reads from its stdin what the supervisor says, and
 * the end of its stdin is the end of the supervisor. Imports next to nothing, so that it stays small.
 */
import { rmSync } from "node:fs";
import { endProcess, ownPid, systemClock } from "../platform.ts";
import { Family } from "../process/family.ts";
import { procTable } from "../process/table.ts";
import { Guard } from "./guard.ts";
import { type FromWatchdog, messageReader, type ToWatchdog, toLine } from "./protocol.ts";

const [, , marker = "", supervisor = ""] = process.argv;
process.title = `tenure-watchdog of ${supervisor}`;
// Whoever stops a whole service by signals (systemd does) must not stop this before what it watches over.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});

const tell = (message: FromWatchdog) => process.stdout.write(toLine(message));
// The supervisor is dead; nobody need be told.
process.stdout.on("error", () => {});

const guard = new Guard({
  family: new Family({
    marker,
    table: procTable(),
    supervisor: Number(supervisor),
    spared: () => [ownPid],
  }),
  clock: systemClock,
  tell,
  remove: (folder) => rmSync(folder, { recursive: true, force: true }),
  end: () => endProcess(0),
});

const hear = messageReader<ToWatchdog>((message) => guard.hear(message));
const onEnd = () => void guard.supervisorEnded();
process.stdin.setEncoding("utf8").on("data", hear).once("end", onEnd).once("error", onEnd);
tell({ type: "ready" });
