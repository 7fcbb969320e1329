/** A supervisor with a scripted election and real children. After `endRigs` no process is left. */
import { PassThrough } from "node:stream";
import { ScriptedElection } from "@tenure/testkit";
import type { Outcome, SupervisorEvents } from "../events.ts";
import type { SupervisorOptions } from "../options.ts";
import { Supervisor } from "../supervisor.ts";
import { until } from "./processes.ts";

export interface Rig {
  readonly election: ScriptedElection;
  readonly supervisor: Supervisor;
  readonly phases: string[];
  readonly children: SupervisorEvents["child"][];
  readonly health: SupervisorEvents["health"][];
  /** The output of the child. */
  readonly text: () => string;
  readonly shutdown: AbortController;
  readonly outcome: Promise<Outcome>;
  /** Resolves when the n-th child is ready. */
  readonly ready: (count?: number) => Promise<void>;
  readonly stopped: () => Promise<void>;
}

const rigs: Rig[] = [];

export function newRig(script: string, options: Partial<SupervisorOptions> = {}): Rig {
  const election = new ScriptedElection({ identity: "replica-a" });
  const stdout = new PassThrough();
  let text = "";
  stdout.on("data", (chunk) => {
    text += chunk;
  });
  const supervisor = new Supervisor({
    election,
    electionName: "prod/billing",
    command: "sh",
    args: ["-c", script],
    stdout,
    stderr: stdout,
    stopTimeoutMs: 10_000,
    ...options,
  });
  const phases: string[] = [];
  const children: SupervisorEvents["child"][] = [];
  const health: SupervisorEvents["health"][] = [];
  supervisor.on("phase", ({ phase }) => phases.push(phase));
  supervisor.on("child", (event) => children.push(event));
  supervisor.on("health", (event) => health.push(event));
  // Tests provoke errors on purpose; without a listener each would be a warning.
  supervisor.on("error", () => {});
  const shutdown = new AbortController();
  const outcome = supervisor.run({ signal: shutdown.signal });
  const count = (type: string) => children.filter((event) => event.type === type).length;
  const rig: Rig = {
    election,
    supervisor,
    phases,
    children,
    health,
    text: () => text,
    shutdown,
    outcome,
    ready: (wanted = 1) => until(() => count("ready") >= wanted),
    stopped: () => until(() => count("stopped") >= 1),
  };
  rigs.push(rig);
  return rig;
}

/** A rig that won the election and whose child is ready. */
export async function newLeader(script: string, options: Partial<SupervisorOptions> = {}): Promise<Rig> {
  const rig = newRig(script, options);
  await until(() => rig.supervisor.status().watchdog.running);
  rig.election.win();
  await rig.ready();
  return rig;
}

export async function endRigs(): Promise<void> {
  await Promise.all(
    rigs.splice(0).map(async ({ shutdown, supervisor, outcome }) => {
      shutdown.abort();
      supervisor.hurry();
      await outcome.catch(() => {});
    }),
  );
}
