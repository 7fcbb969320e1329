/**
 * Writes an order to a lock with a merge patch that names the resourceVersion it was decided on, so an order for one term is
 * never written to the next. If the leader renews in between, the lock is read and the order decided again.
 */
import { KubeError } from "@tenure/kube";
import { CliError } from "../errors.ts";
import { findElection, type Reader } from "./find.ts";
import { type LockKind, type LockObject, objectPath } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

/** The field manager under which managedFields record when an order was written. */
const orderManager = "tenure-orders";

/** Values to set. Null removes an annotation. */
export type Annotations = Readonly<Record<string, string | null>>;

export interface GivenOrder {
  readonly before: ElectionState;
  /** Undefined if nothing had to be written. */
  readonly after: ElectionState | undefined;
}

/** A leader renews every few seconds, so this many conflicts in a row are not caused by renewals. */
const mostConflicts = 20;

/**
 * @param decide returns what to write for the present state, or undefined to write nothing; throws if the order makes no sense
 */
export async function giveOrder(
  reader: Reader,
  where: { kinds?: readonly LockKind[]; namespace: string; name: string },
  decide: (state: ElectionState) => Annotations | undefined,
): Promise<GivenOrder> {
  for (let attempt = 0; attempt < mostConflicts; attempt++) {
    const [before] = await findElection(reader, where.namespace, where.name, where.kinds);
    const annotations = decide(before);
    if (annotations === undefined) return { before, after: undefined };
    try {
      const object = await reader.serverClock.during(() =>
        reader.client.request<LockObject>({
          method: "PATCH",
          path: objectPath(before.kind, where.namespace, where.name),
          query: { fieldManager: orderManager },
          contentType: "application/merge-patch+json",
          body: { metadata: { resourceVersion: before.object.metadata.resourceVersion, annotations } },
        }),
      );
      return { before, after: stateOf(before.kind, object, reader.serverClock.nowMs()) };
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== "Conflict") throw error;
    }
  }
  throw new CliError(
    "Failed",
    `Cannot write the order to ${where.namespace}/${where.name}: the lock changed before each of ${mostConflicts} attempts. ` +
      "Find out what changes it with tenure watch, then try again",
  );
}
