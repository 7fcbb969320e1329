/** `tenure list`: every election that may be seen, one a line. */
import { KubeError } from "@tenure/kube";
import { listLocks } from "../../elections/find.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { serialize } from "../../elections/output.ts";
import { harmless } from "../../elections/paint.ts";
import type { OperateFlags, Session } from "../../elections/session.ts";
import type { ElectionState } from "../../elections/state.ts";
import { table } from "../../elections/table.ts";
import { spell } from "../../elections/time-words.ts";
import { dataOf, isApiServerIdentity } from "../../elections/words.ts";
import { CliError } from "../../errors.ts";

export interface ListFlags extends OperateFlags {
  allNamespaces?: boolean;
  legacy?: boolean;
  nodes?: boolean;
}

/** Where every node renews a Lease to say that it lives; nobody contends for those. */
const heartbeatNamespace = "kube-node-lease";

export async function list(session: Session<ListFlags>): Promise<number> {
  const { flags, paint } = session;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const kinds: LockKind[] = flags.legacy ? ["lease", "configmap", "endpoints"] : ["lease"];
  const states: ElectionState[] = [];
  for (const kind of kinds) states.push(...(await seen(session, namespace, kind)));
  const elections = states
    .filter((state) => isElection(state, flags.nodes === true || namespace === heartbeatNamespace))
    .sort((a, b) => (a.namespace + a.name < b.namespace + b.name ? -1 : 1));
  if (flags.output === "json" || flags.output === "yaml") {
    session.print(await serialize(flags.output, { items: elections.map((state) => dataOf(state)) }));
    return 0;
  }
  if (elections.length === 0) {
    const where = namespace === undefined ? "in any namespace" : `in namespace "${namespace}"`;
    const more = namespace === undefined ? "" : ": say another with -n, or see all with -A";
    session.platform.err(`There are no elections ${where}${more}.\n`);
    return 0;
  }
  const isWide = flags.output === "wide";
  const headings = [
    ...(namespace === undefined ? ["NAMESPACE"] : []),
    ...["NAME", "LEADER", "SINCE", "RENEWED", "EXPIRES", "TRANSITIONS", "NOTE"],
    ...(isWide ? ["KIND", "LEASE"] : []),
  ];
  const rows = elections.map((state) => [
    ...(namespace === undefined ? [state.namespace] : []),
    state.name,
    state.leader === undefined ? paint.bad("<none>") : harmless(state.leader),
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

/** A Lease that nobody contends for has neither been taken over nor said that it could be. */
export function isElection(state: ElectionState, withHeartbeats: boolean): boolean {
  if (state.kind !== "lease") return true;
  if (!withHeartbeats && state.namespace === heartbeatNamespace) return false;
  const { spec } = state.object;
  return Boolean(spec?.holderIdentity) || spec?.leaseTransitions !== undefined;
}

/** One word for each thing that is not as usual, joined by commas: a column without blanks. */
export function noteOn(state: ElectionState): string {
  const { orders, standing } = state;
  return [
    ...(standing === "led" ? [] : [standing]),
    ...(orders.paused ? ["paused"] : []),
    ...(orders.stepDown ? ["step-down"] : []),
    ...(orders.transferTo === undefined ? [] : [`transfer-to:${harmless(orders.transferTo)}`]),
    ...(isApiServerIdentity(state) ? ["apiserver-identity"] : []),
    ...(state.namespace === heartbeatNamespace ? ["node-heartbeat"] : []),
    ...(state.kind === "lease" ? [] : [state.kind]),
  ].join(",");
}

function cell(ms: number | undefined): string {
  return ms === undefined ? "-" : spell(ms);
}

async function seen(
  session: Session<ListFlags>,
  namespace: string | undefined,
  kind: LockKind,
): Promise<ElectionState[]> {
  try {
    return await listLocks(session, namespace, kind);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "Forbidden" || namespace !== undefined) throw error;
    throw new CliError("FAILED", `${error.message} Or leave -A out and say one namespace with -n.`, {
      cause: error,
    });
  }
}
