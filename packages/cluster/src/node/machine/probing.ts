/** Startup, liveness and readiness probes: when to run them and what their results mean. */
import type { NodeContainer, Probe } from "../pod.ts";
import type { Draft } from "./draft.ts";
import { stopContainer } from "./stopping.ts";
import {
  type ContainerState,
  type PodEvent,
  type ProbeKind,
  type ProbeState,
  probeKinds,
  type Running,
} from "./types.ts";

const never = Number.POSITIVE_INFINITY;

function probeOf(spec: NodeContainer, kind: ProbeKind): Probe | undefined {
  return spec[`${kind}Probe`];
}

/** The probes of a container that starts to run. A startup probe holds back the others until it has passed. */
export function newProbes(spec: NodeContainer, startedMs: number): Running["probes"] {
  const probes: Partial<Record<ProbeKind, ProbeState>> = {};
  for (const kind of probeKinds) {
    const probe = probeOf(spec, kind);
    if (!probe) continue;
    const isHeld = kind !== "startup" && spec.startupProbe !== undefined;
    const dueMs = isHeld ? never : startedMs + (probe.initialDelaySeconds ?? 0) * 1000;
    probes[kind] = { dueMs, isInFlight: false, passed: undefined, successes: 0, failures: 0 };
  }
  return probes;
}

export function isStarted({ run }: ContainerState, spec: NodeContainer): boolean {
  if (run.type !== "running" || run.isHookRunning) return false;
  return spec.startupProbe === undefined || run.probes.startup?.passed === true;
}

export function isReady(container: ContainerState, spec: NodeContainer): boolean {
  if (container.run.type !== "running" || !isStarted(container, spec)) return false;
  return spec.readinessProbe === undefined || container.run.probes.readiness?.passed === true;
}

/** Runs the probes that are due. */
export function settleProbes(draft: Draft): void {
  for (const { name, run } of draft.state.containers) {
    if (run.type !== "running" || run.isHookRunning) continue;
    const spec = draft.specOf(name);
    for (const kind of probeKinds) {
      const state = run.probes[kind];
      const probe = probeOf(spec, kind);
      if (!state || !probe || state.isInFlight || state.dueMs > draft.now.monoMs) continue;
      // A container that is being stopped may still serve, but must not be restarted.
      if (kind !== "readiness" && (run.stopping || draft.state.ending)) {
        setProbe(draft, name, kind, { dueMs: never });
        continue;
      }
      const dueMs = draft.now.monoMs + (probe.periodSeconds ?? 10) * 1000;
      setProbe(draft, name, kind, { dueMs, isInFlight: true });
      const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
      draft.emit({ type: "probe", container: name, attempt: run.attempt, probe: kind, timeoutMs });
    }
  }
}

export function onProbed(
  draft: Draft,
  { container: name, attempt, probe: kind, failure }: PodEvent & { type: "probed" },
) {
  const run = draft.container(name)?.run;
  if (run?.type !== "running" || run.attempt !== attempt) return;
  const state = run.probes[kind];
  const spec = draft.specOf(name);
  const probe = probeOf(spec, kind);
  if (!state || !probe) return;
  const successes = failure === undefined ? state.successes + 1 : 0;
  const failures = failure === undefined ? 0 : state.failures + 1;
  const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
  if (failure !== undefined)
    draft.report("Warning", "Unhealthy", `${title} probe failed: ${failure}`, { name });
  const counts = failure === undefined ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
  const isDecided = Math.max(successes, failures) >= counts;
  const passed = isDecided ? failure === undefined : state.passed;
  setProbe(draft, name, kind, { isInFlight: false, successes, failures, passed });
  if (!isDecided || kind === "readiness") return;
  if (failure === undefined) {
    if (kind === "startup") releaseOthers(draft, name, run.startedMonoMs, spec);
    return;
  }
  if (run.stopping || draft.state.ending) return;
  const why = `Container ${name} failed ${kind} probe, will be restarted`;
  const graceSeconds =
    probe.terminationGracePeriodSeconds ?? draft.state.pod.spec.terminationGracePeriodSeconds ?? 30;
  stopContainer(draft, name, draft.now.monoMs + graceSeconds * 1000, why);
}

function releaseOthers(draft: Draft, name: string, startedMs: number, spec: NodeContainer): void {
  setProbe(draft, name, "startup", { dueMs: never });
  for (const kind of ["liveness", "readiness"] as const) {
    const delayMs = (probeOf(spec, kind)?.initialDelaySeconds ?? 0) * 1000;
    setProbe(draft, name, kind, { dueMs: Math.max(startedMs + delayMs, draft.now.monoMs) });
  }
}

function setProbe(draft: Draft, name: string, kind: ProbeKind, change: Partial<ProbeState>): void {
  const run = draft.container(name)?.run;
  if (run?.type !== "running" || !run.probes[kind]) return;
  const probe = { ...run.probes[kind], ...change };
  draft.updateRunning(name, { probes: { ...run.probes, [kind]: probe } });
}
