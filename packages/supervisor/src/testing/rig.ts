/** A supervisor on a fake election with real children. Everything that it starts is gone when `end` has resolved. */
import { PassThrough } from "node:stream";
import type { Outcome, SupervisorEvents } from "../events.ts";
import type { SupervisorOptions } from "../options.ts";
import { Supervisor } from "../supervisor.ts";
import { FakeElection } from "./fake-election.ts";
import { until } from "./processes.ts";

export interface Rig {
  readonly election: FakeElection;
  readonly supervisor: Supervisor;
  readonly phases: string[];
  readonly children: SupervisorEvents["child"][];
  readonly health: SupervisorEvents["health"][];
  readonly errors: Error[];
  /** What the child printed. */
  readonly text: () => string;
  readonly shutdown: AbortController;
  readonly outcome: Promise<Outcome>;
  /** Resolves when the n-th child is ready. */
  readonly ready: (count?: number) => Promise<void>;
  readonly stopped: (count?: number) => Promise<void>;
}

const rigs: Rig[] = [];

export function newRig(script: string, options: Partial<SupervisorOptions> = {}): Rig {
  const election = new FakeElection();
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
  const errors: Error[] = [];
  supervisor.on("phase", ({ phase }) => phases.push(phase));
  supervisor.on("child", (event) => children.push(event));
  supervisor.on("health", (event) => health.push(event));
  supervisor.on("error", ({ error }) => errors.push(error));
  const shutdown = new AbortController();
  const outcome = supervisor.run({ signal: shutdown.signal });
  const count = (type: string) => children.filter((event) => event.type === type).length;
  const rig: Rig = {
    election,
    supervisor,
    phases,
    children,
    health,
    errors,
    text: () => text,
    shutdown,
    outcome,
    ready: (wanted = 1) => until(() => count("ready") >= wanted),
    stopped: (wanted = 1) => until(() => count("stopped") >= wanted),
  };
  rigs.push(rig);
  return rig;
}

/** A rig that has won, and whose child is ready. */
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
