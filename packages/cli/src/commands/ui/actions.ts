/** What the page may do, with the rights of the person who started `tenure ui`. Reuses the commands step-down, transfer, pause, resume, doctor. */
import { messageOf } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import type { ElectionRights, Finding, OrderGiven, Timeline, UiActions } from "@tenure/ui";
import type { Session } from "../../cluster/session.ts";
import { whoAmI } from "../../cluster/who-am-i.ts";
import { lockKinds } from "../../elections/lock-object.ts";
import { CliError } from "../../errors.ts";
import { missingRights, selfSubject } from "../doctor/access-review.ts";
import { examine } from "../doctor/examine.ts";
import { performOrder } from "../operate/perform-order.ts";
import { emptyCluster, readCluster } from "./cluster-view.ts";
import { injectFault } from "./faults.ts";
import type { UiFlags } from "./ui-flags.ts";

/** As for the commands. */
const timeoutMs = 60_000;
/** Rights may change while the page is open. */
const rightsLastMs = 30_000;

export function actionsIn(session: Session<UiFlags>, timeline: Timeline, ended: AbortSignal): UiActions {
  const { client, platform, flags, store } = session;
  const kind = flags.lock ?? "lease";
  const namespace = flags.allNamespaces ? undefined : session.namespace;
  const known = new Map<string, { readonly atMs: number; readonly rights: Promise<ElectionRights> }>();
  /** Undefined if nobody has seen such an election. A page cannot make this process ask for anything else. */
  const placeOf = (election: string) => {
    const [namespace = "", name = ""] = election.split("/", 2);
    return timeline.elections.has(election) ? { namespace, name } : undefined;
  };
  let user: Promise<string | undefined> | undefined;
  const readRights = async (election: string): Promise<ElectionRights> => {
    const place = placeOf(election);
    if (!place) return { allowed: false, why: "There is no such election." };
    if (store !== undefined) return { allowed: true };
    const { apiGroup, plural } = lockKinds[kind];
    const rule = {
      apiGroups: [apiGroup],
      resources: [plural],
      resourceNames: [place.name],
      verbs: ["get", "patch", "watch"],
    };
    try {
      const missing = (await missingRights(client, selfSubject(), place.namespace, [rule])).flatMap(
        ({ verbs }) => verbs,
      );
      if (missing.length === 0) return { allowed: true };
      return {
        allowed: false,
        why: `You may not ${missing.join(", ")} ${plural} "${place.name}" in namespace "${place.namespace}".`,
      };
    } catch (error) {
      return { allowed: false, why: messageOf(error) };
    }
  };
  return {
    cluster: () => (store === undefined ? readCluster(client, namespace) : Promise.resolve(emptyCluster)),
    breakSomething: (what, target) => injectFault(client, what, target),
    rights(election) {
      const nowMs = session.monotonicMs();
      const before = known.get(election);
      if (before && nowMs - before.atMs < rightsLastMs) return before.rights;
      const rights = readRights(election);
      known.set(election, { atMs: nowMs, rights });
      return rights;
    },
    async perform({ order, election, to, reason }: OrderGiven) {
      const place = placeOf(election);
      if (!place) return { ok: false, message: "There is no such election." };
      user ??= order === "pause" && store === undefined ? whoAmI(client).catch(() => undefined) : undefined;
      try {
        const { ok, message } = await performOrder(session, platform.clock, {
          which: order,
          where: { ...place, kinds: [kind] },
          to,
          reason,
          by: await user,
          timeoutMs,
          interrupt: ended,
        });
        return { ok, message: `${message.replace(/\.$/, "")}.` };
      } catch (error) {
        if (!(error instanceof CliError) && !(error instanceof KubeError)) throw error;
        return { ok: false, message: `${error.message.replace(/\.$/, "")}.` };
      }
    },
    async findings(election) {
      const place = placeOf(election);
      if (!place) return [];
      const reports: Finding[] = [];
      try {
        await examine(
          place.name,
          { ...session, namespace: place.namespace, flags: { ...flags } },
          ({ command, fix = command, ...report }) => {
            const both = [...new Set([fix, command])].filter((text) => text !== undefined);
            reports.push({ ...report, ...(both.length > 0 && { fix: both.join("\n") }) });
          },
        );
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        reports.push({ check: "connection", verdict: "finding", what: error.message });
      }
      return reports;
    },
  };
}
