/**
 * What the flags in a manifest show about a part in an election: those of tenure, and those of programs on client-go. This
 * reads the manifest, not the running process, so it does not see what the image does by itself. Pure.
 */
import { parseDuration } from "@tenure/base";
import { presets } from "@tenure/core";
import { type Container, containersOf, type EnvVar, type Workload } from "./workload.ts";

/** The arguments of the program. Those after a double dash belong to the child of tenure. */
function wordsOf({ command = [], args = [] }: Container): readonly string[] {
  // The script of `sh -c` is one argument.
  const words = [...command, ...args].flatMap((word) => word.split(/\s+/));
  const end = words.indexOf("--");
  return end === -1 ? words : words.slice(0, end);
}

/** The value of a flag in the arguments, with one dash or two. Kubernetes replaces $(NAME) by the variable. */
function argumentOf(container: Container, flag: string): string | undefined {
  const words = wordsOf(container);
  for (const [index, word] of words.entries()) {
    const [, value] = new RegExp(`^--?${flag}=(.*)$`).exec(word) ?? [];
    if (value !== undefined) return expand(container, value);
    if (word === `--${flag}` || word === `-${flag}`) return expand(container, words[index + 1] ?? "");
  }
  return undefined;
}

function expand(container: Container, text: string): string {
  return text.replaceAll(/\$\(([\w.-]+)\)/g, (whole, name: string) => envOf(container, name)?.value ?? whole);
}

/** The value of a flag of tenure, from the arguments or from its environment variable. */
export function flagOf(container: Container, flag: string): string | undefined {
  return argumentOf(container, flag) ?? envOf(container, variableOf(flag))?.value;
}

export function hasFlag(container: Container, flag: string): boolean {
  return (
    wordsOf(container).some((word) => word === `--${flag}` || word === `--${flag}=true`) ||
    envOf(container, variableOf(flag))?.value === "true"
  );
}

const variableOf = (flag: string) => `TENURE_${flag.replaceAll("-", "_").toUpperCase()}`;

function envOf({ env = [] }: Container, name: string): EnvVar | undefined {
  return env.find((variable) => variable.name === name);
}

/**
 * The flags with which other programs name the lock: the components of Kubernetes, operators, and the sidecar leader-elector.
 * `lease-lock-name` is tenure's own, and that of client-go's example.
 */
const foreignNameFlags = [
  "leader-elect-resource-name",
  "leader-election-resource-name",
  "leader-election-id",
  "leader-elect-lease-name",
  "leader-election-lease-name",
  "lease-name",
  "election",
];

/** The name of the election in the flags of this container, as written: it may contain a variable of the pod. */
export function electionFlagOf(container: Container): string | undefined {
  const own = flagOf(container, "lease-lock-name");
  return own ?? foreignNameFlags.map((flag) => argumentOf(container, flag)).find(Boolean);
}

/** The name, if it is the same in every pod. */
export function electionNameOf(container: Container): string | undefined {
  const name = electionFlagOf(container);
  return name === undefined || name.includes("$") ? undefined : name;
}

/** The names of the elections in which its containers take part, according to their flags. */
export function electionsOf(workload: Workload): string[] {
  const names = containersOf(workload).map(electionNameOf);
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** The containers that take part in this election; all of them if no flag names it. */
export function candidatesOf(workload: Workload, election: string): readonly Container[] {
  const containers = containersOf(workload);
  const named = containers.filter((container) => electionNameOf(container) === election);
  return named.length > 0 ? named : containers;
}

const switches = ["leader-elect", "leader-election", "enable-leader-election"];

/** The flag that switches the election on or off in programs on client-go. Undefined if there is none. */
export function switchOf(container: Container): { flag: string; isOn: boolean } | undefined {
  for (const word of wordsOf(container)) {
    const [, flag = "", value = "true"] = /^--?([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (switches.includes(flag)) return { flag: `--${flag}`, isOn: value !== "false" };
  }
  return undefined;
}

/** The flags of tenure, and those of the components of Kubernetes. */
export function durationOf(
  container: Container,
  timing: "lease-duration" | "renew-deadline",
): number | undefined {
  const preset = presets[flagOf(container, "preset") as keyof typeof presets];
  return (
    parseDuration(flagOf(container, timing)) ??
    parseDuration(argumentOf(container, `leader-elect-${timing}`)) ??
    parseDuration(preset?.[timing === "lease-duration" ? "leaseDuration" : "renewDeadline"])
  );
}

const tenureCommands = ["run", "sidecar", "elect"];

export function isRunByTenure(container: Container): boolean {
  return tenureCommands.some((command) => runsCommand(container, command));
}

/** Whether the container runs this command of tenure: as the first argument of its image, or after the name of the program. */
export function runsCommand(container: Container, command: string): boolean {
  const program = /(^|\/)(kubectl-)?tenure(\.m?js)?$/;
  return wordsOf(container).some(
    (word, at, words) => word === command && (at === 0 || program.test(words[at - 1] as string)),
  );
}

/** The identity that all replicas would share, if the manifest sets a fixed one. */
export function fixedIdentity(container: Container): string | undefined {
  const given = flagOf(container, "id") ?? envOf(container, "POD_NAME")?.value;
  // Kubernetes replaces $(POD_NAME) in each pod, and a shell replaces $POD_NAME.
  return given === undefined || given.includes("$") ? undefined : given;
}

export function hasIdentity(container: Container): boolean {
  return (
    flagOf(container, "id") !== undefined ||
    envOf(container, "POD_NAME") !== undefined ||
    (container.envFrom?.length ?? 0) > 0
  );
}

/** Whether it has credentials of its own, so that the service account of its pod does not matter. */
export function hasOwnCredentials(container: Container): boolean {
  return Boolean(flagOf(container, "kubeconfig") ?? envOf(container, "KUBECONFIG")?.value);
}
