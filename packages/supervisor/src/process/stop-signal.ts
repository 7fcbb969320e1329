/** Which processes of a child get the first signal of a stop, and which signal that is. */
import type { Checked, Problem } from "@tenure/base";
import { checked, nearest, quote } from "@tenure/base";

/**
 * - `process`: the child alone, as a container runtime does it. What it leaves behind gets the signal when it has exited.
 * - `group`: the process group of the child. Processes outside of the group get the signal when the child has exited.
 * - `tree`: the child and all its descendants at once.
 */
export const killModes = ["process", "group", "tree"] as const;
export type KillMode = (typeof killModes)[number];

/** Signals that ask a program to stop. Signals that no program can handle, or that mean something else, are not here. */
const stopSignals = [
  "SIGTERM",
  "SIGINT",
  "SIGQUIT",
  "SIGHUP",
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
  "SIGALRM",
] as const satisfies readonly NodeJS.Signals[];

/** Reads the name of a signal, with or without SIG. */
export function checkStopSignal(text: string): Checked<NodeJS.Signals> {
  const upper = text.toUpperCase();
  const name = upper.startsWith("SIG") ? upper : `SIG${upper}`;
  const signal = stopSignals.find((each) => each === name);
  return signal === undefined ? { value: undefined, problems: [problemOf(text, name)] } : checked(signal, []);
}

function problemOf(text: string, name: string): Problem {
  const field = "stopSignal";
  if (name === "SIGKILL" || name === "SIGSTOP") {
    const rule = "must be a signal that a program can handle";
    return { field, rule, value: quote(text), fix: "to stop without waiting, lower {stopTimeout}" };
  }
  const meant = nearest(name, stopSignals);
  const rule = `must be one of ${stopSignals.join(", ")}`;
  return { field, rule, value: quote(text), ...(meant !== undefined && { fix: `did you mean ${meant}?` }) };
}
