/**
 * Finds elections in a cluster. One name can stand for up to three objects: a Lease, and a ConfigMap or Endpoints from before
 * there were Leases; while an election moves from one to the other there are two.
 */
import { type KubeClient, KubeError } from "@tenure/kube";
import { CliError } from "../errors.ts";
import { nearest } from "../shared/problems.ts";
import { collectionPath, type LockKind, type LockObject, lockKinds, objectPath } from "./lock-object.ts";
import type { ServerClock } from "./server-clock.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Reader {
  readonly client: KubeClient;
  readonly serverClock: ServerClock;
  /** Where answers have no Date. */
  localNowMs(): number;
}

export const allKinds: readonly LockKind[] = ["lease", "configmap", "endpoints"];

export interface Found {
  /** At least one. The Lease comes first: who moves to it reads and writes it last, and has to win both. */
  readonly states: readonly ElectionState[];
}

/** Every lock of this name. Rejects with a sentence and a suggestion if there is none. */
export async function findElection(
  reader: Reader,
  namespace: string,
  name: string,
  kinds: readonly LockKind[] = allKinds,
): Promise<readonly [ElectionState, ...ElectionState[]]> {
  const [found, refusals] = await readLocks(reader, namespace, name, kinds);
  const [first, ...others] = found;
  if (first !== undefined) return [first, ...others];
  const refused = refusals[0];
  // Without rights to read Leases it cannot be told that there is none.
  if (refused?.kind === "lease" || (refused && kinds.length === 1)) throw refused.error;
  throw new CliError("FAILED", await explainMissing(reader, namespace, name, kinds));
}

/** The locks of this name that could be read, and what was refused. Rejects with what is neither. */
export async function readLocks(
  reader: Reader,
  namespace: string,
  name: string,
  kinds: readonly LockKind[] = allKinds,
): Promise<readonly [ElectionState[], { kind: LockKind; error: KubeError }[]]> {
  const refusals: { kind: LockKind; error: KubeError }[] = [];
  const read = async (kind: LockKind): Promise<ElectionState | undefined> => {
    try {
      const path = objectPath(kind, namespace, name);
      const object = await reader.serverClock.during(() =>
        reader.client.request<LockObject>({ method: "GET", path }),
      );
      return stateOf(kind, object, serverNowMs(reader));
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "NotFound" && error.code !== "Forbidden"))
        throw error;
      if (error.code === "Forbidden") refusals.push({ kind, error });
      return undefined;
    }
  };
  // The Lease first: when that much is refused or unreachable, the others would only say it twice more.
  const states = [await read(kinds[0] as LockKind), ...(await Promise.all(kinds.slice(1).map(read)))];
  return [states.filter((state) => state !== undefined), refusals];
}

export function serverNowMs({ serverClock, localNowMs }: Reader): number {
  return serverClock.time()?.nowMs ?? localNowMs();
}

/** @param namespace undefined for all of them */
export async function listLocks(
  reader: Reader,
  namespace: string | undefined,
  kind: LockKind,
): Promise<ElectionState[]> {
  const objects: LockObject[] = [];
  let next: string | undefined;
  do {
    const page: ListPage = await reader.serverClock.during(() =>
      reader.client.request<ListPage>({
        method: "GET",
        path: collectionPath(kind, namespace),
        query: { limit: "500", continue: next },
      }),
    );
    objects.push(...page.items);
    next = page.metadata?.continue || undefined;
  } while (next !== undefined);
  const nowMs = serverNowMs(reader);
  return objects.map((object) => stateOf(kind, object, nowMs)).filter((state) => state !== undefined);
}

interface ListPage {
  readonly items: LockObject[];
  readonly metadata?: { readonly continue?: string };
}

async function explainMissing(
  reader: Reader,
  namespace: string,
  name: string,
  kinds: readonly LockKind[],
): Promise<string> {
  const what = kinds.length === 1 ? lockKinds[kinds[0] as LockKind].apiKind : "election";
  const missing = `There is no ${what} "${name}" in namespace "${namespace}"`;
  const here = await namesIn(reader, namespace);
  const meant = nearest(
    name,
    here.map((state) => state.name),
  );
  if (meant !== undefined) return `${missing}: did you mean "${meant}"?`;
  const elsewhere = (await namesIn(reader, undefined)).find((state) => state.name === name);
  if (elsewhere)
    return `${missing}: there is one in namespace "${elsewhere.namespace}", add -n ${elsewhere.namespace}`;
  if (here.length === 0) {
    return `${missing}, and no other either: say another with -n, or see all with tenure list -A`;
  }
  return `${missing}: tenure list -n ${namespace} shows those there are`;
}

/** For suggestions: what may not be read is not suggested. */
async function namesIn(reader: Reader, namespace: string | undefined): Promise<ElectionState[]> {
  return listLocks(reader, namespace, "lease").catch(() => []);
}
