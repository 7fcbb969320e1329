/**
 * Records on the lock object that a task is done: one annotation for each task, `completed.tenure.dev/NAME`. One annotation
 * for all tasks would not do: in a rollout an old replica that restarts would find only the newer task, and do its own again.
 */
import { type Clock, type Problem, quote } from "@tenure/base";
import { type KubeClient, KubeError } from "@tenure/kube";
import type { Completion } from "@tenure/supervisor";
import {
  type LockKind,
  type LockObject,
  lockKinds,
  objectPath,
  recordIn,
} from "../../elections/lock-object.ts";
import { exclusive } from "../../settings/problems.ts";
import { isLockUrl, maskLock } from "../../stores/lock-url.ts";

const prefix = "completed.tenure.dev/";

export interface OnceFlags {
  once?: string;
  lock?: string;
  warm?: boolean;
}

export function onceProblems({ once, lock = "lease", warm = false }: OnceFlags): Problem[] {
  if (once === undefined) return [];
  const problems: Problem[] = warm ? [exclusive("once", "warm")] : [];
  if (!/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(once)) {
    const rule =
      "must be 1 to 63 letters, digits, '-', '_' or '.', and begin and end with a letter or a digit, because it names an annotation";
    problems.push({ field: "once", rule, value: quote(once) });
  }
  if (isLockUrl(lock)) {
    const fix = "use a lock in Kubernetes, or record the result in the store yourself";
    problems.push({ field: "once", rule: "needs a {lock} in Kubernetes", value: maskLock(lock), fix });
  } else if (lock.includes("+")) {
    const fix = "migrate the lock first, or use a lock of its own for the task";
    problems.push({ field: "once", rule: "needs a {lock} in one object", value: lock, fix });
  }
  return problems;
}

export interface OnceOptions {
  readonly task: string;
  readonly client: Pick<KubeClient, "request">;
  readonly lock: LockKind;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
  /** Called when the task is seen to be done, by this replica or by another. */
  readonly onDone: (by: string, at: string) => void;
}

export interface Once extends Completion {
  /** Whether the task is known to be done. */
  readonly isDone: boolean;
}

export function newOnce({ task, client, lock, namespace, name, identity, clock, onDone }: OnceOptions): Once {
  const annotation = `${prefix}${task}`;
  const path = objectPath(lock, namespace, name);
  let isDone = false;

  const done = (json: string) => {
    if (!isDone) onDone(...readRecord(json));
    isDone = true;
  };

  const read = async (signal: AbortSignal): Promise<LockObject | undefined> => {
    try {
      return await client.request<LockObject>({ method: "GET", path, signal });
    } catch (error) {
      if (error instanceof KubeError && error.code === "NotFound") return undefined;
      throw error;
    }
  };

  return {
    get isDone() {
      return isDone;
    },
    async isRecorded(signal) {
      const json = (await read(signal))?.metadata.annotations?.[annotation];
      if (json !== undefined) done(json);
      return json !== undefined;
    },
    async record(term, signal) {
      for (;;) {
        const before = await read(signal);
        if (!before) return false;
        // The answer to an earlier attempt may have been lost.
        const json = before.metadata.annotations?.[annotation];
        if (json !== undefined) {
          done(json);
          return true;
        }
        if (recordIn(lock, before)?.holderIdentity !== identity || !term.isValid()) return false;
        const at = new Date(clock.now().wallMs).toISOString();
        const value = JSON.stringify({ at, by: identity, token: String(BigInt(term.token)) });
        const annotations = { ...before.metadata.annotations, [annotation]: value };
        // The whole object as it was read, with its resourceVersion: whoever takes the lock meanwhile makes this fail.
        const body = {
          ...before,
          kind: lockKinds[lock].apiKind,
          metadata: { ...before.metadata, annotations },
        };
        try {
          await client.request({ method: "PUT", path, body, signal });
          done(value);
          return true;
        } catch (error) {
          // A renewal came between the two requests.
          if (!(error instanceof KubeError) || error.code !== "Conflict") throw error;
        }
      }
    },
  };
}

/** Who did it and when, as far as the annotation says so: a person may have written it. */
function readRecord(json: string): [by: string, at: string] {
  try {
    const { by, at } = JSON.parse(json) as { by?: unknown; at?: unknown };
    return [String(by ?? "somebody"), String(at ?? "an unknown time")];
  } catch {
    return ["somebody", "an unknown time"];
  }
}
