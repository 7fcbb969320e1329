/**
 * Finds elections in a cluster. Up to three objects can have the name of one election: a Lease, and a ConfigMap or Endpoints
 * from the time before Leases. During a migration there are two of them.
 */
import { nearest } from "@tenure/base";
import { type KubeClient, KubeError } from "@tenure/kube";
import { CliError } from "../errors.ts";
import { collectionPath, type LockKind, type LockObject, lockKinds, objectPath } from "./lock-object.ts";
import { isOfParticipant } from "./other-leases.ts";
import type { ServerClock } from "./server-clock.ts";
import { type ElectionState, stateOf } from "./state.ts";

/** Where locks are read: a cluster, or a store that is presented as one. */
export type LockClient = Pick<KubeClient, "request" | "watch">;

export interface Reader {
  readonly client: LockClient;
  readonly serverClock: ServerClock;
  /** The store, such as `postgres db:5432/app`, if the locks are not in Kubernetes. */
  readonly store?: string;
}

export const allKinds: readonly LockKind[] = ["lease", "configmap", "endpoints"];

/**
 * Every lock with this name. The Lease comes first: a candidate that migrates must hold both locks and takes the Lease last.
 * Rejects with a suggestion if there is no lock.
 */
export async function findElection(
  reader: Reader,
  namespace: string,
  name: string,
  kinds: readonly LockKind[] = allKinds,
): Promise<readonly [ElectionState, ...ElectionState[]]> {
  const [found, denials] = await readLocks(reader, namespace, name, kinds);
  const [first, ...others] = found;
  if (first !== undefined) return [first, ...others];
  const denied = denials[0];
  // Without the right to read Leases, nothing proves that there is none.
  if (denied?.kind === "lease" || (denied && kinds.length === 1)) throw denied.error;
  throw new CliError("Failed", await explainMissing(reader, namespace, name, kinds));
}

/** The locks with this name that can be read, and those to which access is denied. Rejects on any other failure. */
export async function readLocks(
  reader: Reader,
  namespace: string,
  name: string,
  kinds: readonly LockKind[] = allKinds,
): Promise<readonly [ElectionState[], { kind: LockKind; error: KubeError }[]]> {
  const denials: { kind: LockKind; error: KubeError }[] = [];
  const read = async (kind: LockKind): Promise<ElectionState | undefined> => {
    try {
      const path = objectPath(kind, namespace, name);
      const object = await reader.serverClock.during(() =>
        reader.client.request<LockObject>({ method: "GET", path }),
      );
      return stateOf(kind, object, reader.serverClock.nowMs());
    } catch (error) {
      if (!(error instanceof KubeError) || (error.code !== "NotFound" && error.code !== "Forbidden"))
        throw error;
      if (error.code === "Forbidden") denials.push({ kind, error });
      return undefined;
    }
  };
  // The Lease first: if the server is unreachable, the other requests would only fail in the same way.
  const states = [await read(kinds[0] as LockKind), ...(await Promise.all(kinds.slice(1).map(read)))];
  return [states.filter((state) => state !== undefined), denials];
}

/**
 * @param namespace undefined for all namespaces
 * @param selector a label selector; undefined for all labels
 */
export async function listLocks(
  reader: Reader,
  namespace: string | undefined,
  kind: LockKind,
  selector?: string,
): Promise<ElectionState[]> {
  const objects: LockObject[] = [];
  let next: string | undefined;
  do {
    const page: ListPage = await reader.serverClock.during(() =>
      reader.client.request<ListPage>({
        method: "GET",
        path: collectionPath(kind, namespace),
        query: { limit: "500", continue: next, labelSelector: selector },
      }),
    );
    objects.push(...page.items);
    next = page.metadata?.continue || undefined;
  } while (next !== undefined);
  const nowMs = reader.serverClock.nowMs();
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
  const where = reader.store ?? `namespace "${namespace}"`;
  const missing = `There is no ${reader.store ? "election" : what} "${name}" in ${where}`;
  const here = await leasesIn(reader, namespace);
  const meant = nearest(
    name,
    here.map((state) => state.name),
  );
  if (meant !== undefined) return `${missing}: did you mean "${meant}"?`;
  if (reader.store !== undefined) return `${missing}: list those that exist with tenure list`;
  const elsewhere = (await leasesIn(reader, undefined)).find((state) => state.name === name);
  if (elsewhere)
    return `${missing}, but there is one in namespace "${elsewhere.namespace}": add -n ${elsewhere.namespace}`;
  if (here.length === 0) {
    return `${missing}, and no other election either: choose another namespace with -n, or list all with tenure list -A`;
  }
  return `${missing}: list those that exist with tenure list -n ${namespace}`;
}

/** For suggestions only, so a failure counts as no Leases. */
async function leasesIn(reader: Reader, namespace: string | undefined): Promise<ElectionState[]> {
  const leases = await listLocks(reader, namespace, "lease").catch(() => []);
  return leases.filter((lease) => !isOfParticipant(lease));
}
