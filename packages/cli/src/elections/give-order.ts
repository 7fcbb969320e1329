/**
 * Writes an order onto a lock: a merge patch that names the version it was decided on, so that an order for one term is never
 * written onto the next. A renewal in between only means to read and decide again.
 */
import { KubeError } from "@tenure/kube";
import { CliError } from "../errors.ts";
import { findElection, type Reader, serverNowMs } from "./find.ts";
import { type LockKind, type LockObject, objectPath } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

/** Who wrote an order and when is found under this name in managedFields. */
export const orderManager = "tenure-orders";

/** Values to set; null removes. */
export type Annotations = Readonly<Record<string, string | null>>;

export interface Given {
  readonly before: ElectionState;
  /** Undefined when nothing had to be written. */
  readonly after: ElectionState | undefined;
}

/** A leader renews every few seconds: to lose so often in a row takes something else than renewals. */
const mostConflicts = 20;

/**
 * @param decide what to write, given the election as it is; undefined to write nothing; throws where the order makes no sense.
 */
export async function giveOrder(
  reader: Reader,
  where: { kinds?: readonly LockKind[]; namespace: string; name: string },
  decide: (state: ElectionState) => Annotations | undefined,
): Promise<Given> {
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
      return { before, after: stateOf(before.kind, object, serverNowMs(reader)) };
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== "Conflict") throw error;
    }
  }
  throw new CliError(
    "FAILED",
    `Cannot write the order onto ${where.namespace}/${where.name}: it changed ${mostConflicts} times in a row just before. ` +
      "See with tenure watch what changes it, then try again",
  );
}
