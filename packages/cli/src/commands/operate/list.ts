/** `tenure list`: every election that the user may see, one per line. */
import { KubeError } from "@tenure/kube";
import type { OperateFlags, Session } from "../../cluster/session.ts";
import { spell } from "../../display/durations.ts";
import { serialize } from "../../display/output.ts";
import { withoutControls } from "../../display/paint.ts";
import { dataOf } from "../../display/state-data.ts";
import { table } from "../../display/table.ts";
import { candidatesAmong, standbysOf } from "../../elections/candidates.ts";
import { listLocks } from "../../elections/find.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { isApiServerIdentity, isElection, isNodeHeartbeat } from "../../elections/other-leases.ts";
import type { ElectionState } from "../../elections/state.ts";
import { CliError } from "../../errors.ts";

export interface ListFlags extends OperateFlags {
  allNamespaces?: boolean;
  legacy?: boolean;
  nodes?: boolean;
}

export async function list(session: Session<ListFlags>): Promise<number> {
  const { flags, paint } = session;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const kinds: LockKind[] = flags.legacy ? ["lease", "configmap", "endpoints"] : ["lease"];
  const states: ElectionState[] = [];
  for (const kind of kinds) states.push(...(await listReadable(session, namespace, kind)));
  const elections = states
    .filter((state) =>
      isElection(state, { withHeartbeats: flags.nodes === true || namespace === state.namespace }),
    )
    .sort((a, b) => (a.namespace + a.name < b.namespace + b.name ? -1 : 1));
  if (flags.output === "json" || flags.output === "yaml") {
    session.print(
      await serialize(flags.output, {
        items: elections.map((state) => ({ ...dataOf(state), standbys: standbysIn(state, states) ?? null })),
      }),
    );
    return 0;
  }
  if (elections.length === 0) {
    const where = namespace === undefined ? "in any namespace" : `in namespace "${namespace}"`;
    const more = namespace === undefined ? "" : ": choose another namespace with -n, or list all with -A";
    session.platform.err(`There are no elections ${where}${more}.\n`);
    return 0;
  }
  const isWide = flags.output === "wide";
  const headings = [
    ...(namespace === undefined ? ["NAMESPACE"] : []),
    ...["NAME", "LEADER", "STANDBYS", "SINCE", "RENEWED", "EXPIRES", "TRANSITIONS", "NOTE"],
    ...(isWide ? ["KIND", "LEASE"] : []),
  ];
  const rows = elections.map((state) => [
    ...(namespace === undefined ? [state.namespace] : []),
    state.name,
    state.leader === undefined ? paint.bad("<none>") : withoutControls(state.leader),
    String(standbysIn(state, states) ?? "-"),
    cell(state.heldForMs),
    cell(state.ageMs),
    state.standing === "expired" ? paint.bad(cell(state.expiresInMs)) : cell(state.expiresInMs),
    String(state.record.leaseTransitions),
    noteOn(state) || "-",
    ...(isWide ? [state.kind, `${state.record.leaseDurationSeconds ?? "-"}s`] : []),
  ]);
  session.print(table(headings, rows, paint));
  return 0;
}

/** How many candidates wait. Undefined if none shows itself, as those on client-go do not. */
function standbysIn(state: ElectionState, leases: readonly ElectionState[]): number | undefined {
  const candidates = candidatesAmong(state, leases);
  return candidates.length === 0 ? undefined : standbysOf(candidates, state.leader).length;
}

/** One word for each unusual fact, joined by commas, so that the column has no blanks. */
function noteOn(state: ElectionState): string {
  const { orders, standing } = state;
  return [
    ...(standing === "led" ? [] : [standing]),
    ...(orders.paused ? ["paused"] : []),
    ...(orders.stepDown ? ["step-down"] : []),
    ...(orders.transferTo === undefined ? [] : [`transfer-to:${withoutControls(orders.transferTo)}`]),
    ...(isApiServerIdentity(state) ? ["apiserver-identity"] : []),
    ...(isNodeHeartbeat(state) ? ["node-heartbeat"] : []),
    ...(state.kind === "lease" ? [] : [state.kind]),
  ].join(",");
}

function cell(ms: number | undefined): string {
  return ms === undefined ? "-" : spell(ms);
}

async function listReadable(
  session: Session<ListFlags>,
  namespace: string | undefined,
  kind: LockKind,
): Promise<ElectionState[]> {
  try {
    return await listLocks(session, namespace, kind);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "Forbidden" || namespace !== undefined) throw error;
    throw new CliError("Failed", `${error.message} Or list one namespace with -n instead of -A.`, {
      cause: error,
    });
  }
}
