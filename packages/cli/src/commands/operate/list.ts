/** `tenure list`: every election that the user may see, one per line; with -w also every change. */
import type { Problem } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import type { OperateFlags, Session } from "../../cluster/session.ts";
import { spell } from "../../display/durations.ts";
import { isData, serialize, serializeNext } from "../../display/output.ts";
import { withoutControls } from "../../display/paint.ts";
import { dataOf } from "../../display/state-data.ts";
import { table } from "../../display/table.ts";
import { candidatesAmong, standbysOf } from "../../elections/candidates.ts";
import { listLocks } from "../../elections/find.ts";
import { type LockKind, resourceName } from "../../elections/lock-object.ts";
import { isApiServerIdentity, isElection, isNodeHeartbeat } from "../../elections/other-leases.ts";
import type { ElectionState } from "../../elections/state.ts";
import { CliError } from "../../errors.ts";
import { isLockUrl } from "../../stores/lock-url.ts";
import { printChanges } from "./print-changes.ts";

export interface ListFlags extends OperateFlags {
  allNamespaces?: boolean;
  selector?: string;
  watch?: boolean;
  /** False with --no-headers. */
  headers?: boolean;
  legacy?: boolean;
  nodes?: boolean;
}

/** Stores other than Kubernetes have no labels. */
export function selectorProblems({ selector, lock }: { selector?: string; lock?: string }): Problem[] {
  if (selector === undefined || !isLockUrl(lock)) return [];
  return [
    {
      field: "selector",
      rule: "needs locks in Kubernetes, because other stores have no labels",
      fix: "leave it out",
    },
  ];
}

export async function list(session: Session<ListFlags>): Promise<number> {
  const { flags } = session;
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const kinds: LockKind[] = flags.legacy ? ["lease", "configmap", "endpoints"] : ["lease"];
  const states: ElectionState[] = [];
  for (const kind of kinds) states.push(...(await listReadable(session, namespace, kind)));
  const withNodes = flags.nodes === true;
  const elections = states
    .filter((state) => isElection(state, { withHeartbeats: withNodes || namespace === state.namespace }))
    .sort((a, b) => (a.namespace + a.name < b.namespace + b.name ? -1 : 1));
  const format = await printList(session, namespace, elections, states);
  if (flags.watch)
    await printChanges(
      session,
      { kinds, namespace, selector: flags.selector, withNodes, known: elections },
      format,
    );
  return 0;
}

type Format = (state: ElectionState, isDeleted: boolean) => Promise<string>;

/** Prints the list. @returns what to print for one more election */
async function printList(
  session: Session<ListFlags>,
  namespace: string | undefined,
  elections: readonly ElectionState[],
  leases: readonly ElectionState[],
): Promise<Format> {
  const { flags, store } = session;
  const { output } = flags;
  if (isData(output) || output === "name") {
    const format = isData(output)
      ? (state: ElectionState) => serializeNext(output, dataOf(state))
      : async (state: ElectionState) => `${resourceName(state, store)}\n`;
    // As kubectl: a list, or with -w one object after the other.
    if (isData(output) && !flags.watch)
      session.print(
        await serialize(output, {
          items: elections.map((state) => ({
            ...dataOf(state),
            standbys: standbysIn(state, leases) ?? null,
          })),
        }),
      );
    else for (const state of elections) session.print(await format(state));
    return format;
  }
  if (elections.length === 0) {
    const where = namespace === undefined ? "in any namespace" : `in namespace "${namespace}"`;
    const more = namespace === undefined ? "" : ": choose another namespace with -n, or list all with -A";
    const which = flags.selector === undefined ? "" : ` with the labels ${flags.selector}`;
    session.platform.err(`There are no elections${which} ${where}${more}.\n`);
  }
  const printed = electionTable(session, namespace, elections, leases);
  // Headings stand above the first row, which may come later.
  let isBegun = elections.length > 0;
  if (isBegun) session.print(printed.text);
  return async (state, isDeleted) => {
    const head = isBegun ? "" : printed.text;
    isBegun = true;
    // The leases of candidates are not followed.
    return head + printed.row(cellsOf(session, namespace, state, { standbys: undefined, isDeleted }));
  };
}

function electionTable(
  session: Session<ListFlags>,
  namespace: string | undefined,
  elections: readonly ElectionState[],
  leases: readonly ElectionState[],
) {
  const { flags, paint, platform } = session;
  const isWide = flags.output === "wide";
  const headings = [
    ...(namespace === undefined ? ["NAMESPACE"] : []),
    ...["NAME", "LEADER", "STANDBYS", "SINCE", "RENEWED", "EXPIRES", "TRANSITIONS", "NOTE"],
    ...(isWide ? ["KIND", "LEASE"] : []),
  ];
  return table(
    headings,
    elections.map((state) =>
      cellsOf(session, namespace, state, { standbys: standbysIn(state, leases), isDeleted: false }),
    ),
    {
      paint,
      noHeaders: flags.headers === false,
      // A pipe gets whole names, and so does -o wide.
      width: platform.isTerminal && !isWide ? platform.terminal.columns() : undefined,
      shrink: ["NAMESPACE", "NAME", "LEADER", "NOTE"],
      drop: ["TRANSITIONS", "RENEWED", "SINCE", "NOTE", "EXPIRES"],
    },
  );
}

function cellsOf(
  { flags, paint }: Session<ListFlags>,
  namespace: string | undefined,
  state: ElectionState,
  { standbys, isDeleted }: { standbys: number | undefined; isDeleted: boolean },
): string[] {
  return [
    ...(namespace === undefined ? [state.namespace] : []),
    state.name,
    state.leader === undefined || isDeleted ? paint.bad("<none>") : withoutControls(state.leader),
    String(standbys ?? "-"),
    cell(state.heldForMs),
    cell(state.ageMs),
    state.standing === "expired" ? paint.bad(cell(state.expiresInMs)) : cell(state.expiresInMs),
    String(state.record.leaseTransitions),
    (isDeleted ? "deleted" : noteOn(state)) || "-",
    ...(flags.output === "wide" ? [state.kind, `${state.record.leaseDurationSeconds ?? "-"}s`] : []),
  ];
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
    return await listLocks(session, namespace, kind, session.flags.selector);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "Forbidden" || namespace !== undefined) throw error;
    throw new CliError("Failed", `${error.message} Or list one namespace with -n instead of -A.`, {
      cause: error,
    });
  }
}
