/**
 * Writes commands that work where the doctor runs: with the namespace, and with the kubeconfig and context that the user gave.
 * A store gets no kubectl commands. Pure.
 */
import type { ConnectionFlags } from "../../settings/connection-options.ts";
import { isLockUrl } from "../../stores/lock-url.ts";

export interface Advice {
  /** Where the doctor runs. In a pod there is no kubeconfig; a store is not in Kubernetes. */
  readonly where: "machine" | "pod" | "store";
  readonly namespace: string;
  kubectl(command: string): string;
  /** For objects that are in no namespace. */
  withoutNamespace(command: string): string;
  /** A command that reads these manifests. */
  apply(...manifests: string[]): string;
  tenure(command: string): string;
}

export interface AdvicePlace {
  readonly namespace: string;
  readonly flags: ConnectionFlags;
  readonly isStore: boolean;
  /** The URL of the store, if it was given as a flag. */
  readonly lock?: string | undefined;
  /** Whether the environment names a cluster, as it does in a pod. */
  readonly isPod: boolean;
  /** The kubeconfig that `tenure sandbox` writes. */
  readonly sandboxKubeconfig: string;
}

export function adviceFor(place: AdvicePlace): Advice {
  const { namespace, flags } = place;
  const { kubeconfig, context, sandbox } = flags;
  const given = [
    ...(kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig]),
    ...(context === undefined ? [] : ["--context", context]),
  ];
  const forKubectl = sandbox === undefined ? given : sandboxFlags(sandbox, place.sandboxKubeconfig);
  const forTenure = place.isStore
    ? storeFlags(place.lock)
    : ["-n", namespace, ...given, ...(sandbox === undefined ? [] : ["--sandbox", sandbox])];
  const line = (program: string, command: string, words: readonly string[]) =>
    [program, command, ...words.map(quoted)].join(" ");
  const kubectl = (command: string) => line("kubectl", command, ["-n", namespace, ...forKubectl]);
  return {
    where: place.isStore ? "store" : place.isPod && given.length === 0 && !sandbox ? "pod" : "machine",
    namespace,
    kubectl,
    withoutNamespace: (command) => line("kubectl", command, forKubectl),
    apply: (...manifests) => `${kubectl("apply -f -")} <<'EOF'\n${manifests.join("\n---\n")}\nEOF`,
    tenure: (command) => line("tenure", command, forTenure),
  };
}

/** kubectl does not know --sandbox. */
function sandboxFlags(sandbox: string, kubeconfig: string): string[] {
  return /^http:/i.test(sandbox) ? ["--server", sandbox] : ["--kubeconfig", kubeconfig];
}

/** A URL with a password is not printed. TENURE_LOCK keeps it out of the process list too. */
function storeFlags(lock: string | undefined): string[] {
  if (!isLockUrl(lock)) return [];
  return /:\/\/[^/@]*:[^/@]*@/.test(lock) ? [] : ["--lock", lock];
}

function quoted(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
