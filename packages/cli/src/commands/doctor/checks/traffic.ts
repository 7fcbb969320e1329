/** Checks that traffic goes to the holder of the lock: pod labels, EndpointSlices and ConfigMaps. Pure. */
import { defaultConfigMapKey, electionLabel, electionLabelValue, roleLabel } from "@tenure/traffic/internal";
import { titleOf } from "../../../display/descriptions.ts";
import type { ElectionState } from "../../../elections/state.ts";
import type { Advice } from "../advice.ts";
import { type Pod, podOf } from "../pods.ts";
import { finding, ok, type Report } from "../report.ts";
import type { Slice, Snapshot } from "../snapshot.ts";

/** Traffic follows the lock with a short delay, so a younger term is not checked. */
const settledAfterMs = 10_000;

/** @param keys the keys under which workloads publish the leader, by the name of the ConfigMap */
export function checkTraffic(
  state: ElectionState,
  snapshot: Snapshot,
  advice: Advice,
  keys: ReadonlyMap<string, string> = new Map(),
): Report[] {
  const mine = electionLabelValue(state.name);
  const isMine = ({ metadata }: { metadata: { labels?: Readonly<Record<string, string>> } }) =>
    metadata.labels?.[electionLabel] === mine;
  const pods = snapshot.pods ?? [];
  const leaders = pods.filter((pod) => isMine(pod) && pod.metadata.labels?.[roleLabel] === "leader");
  const isMoving = state.standing === "led" && (state.heldForMs ?? settledAfterMs) < settledAfterMs;
  return [
    ...checkLabels(state, leaders, pods.some(isMine), isMoving, advice),
    ...(isMoving
      ? []
      : (snapshot.slices ?? []).filter(isMine).map((slice) => checkSlice(state, slice, pods, advice))),
    ...(isMoving
      ? []
      : (snapshot.configMaps ?? [])
          .filter(isMine)
          .map(({ metadata: { name }, data }) =>
            checkConfigMap(state, name, data?.[keys.get(name) ?? defaultConfigMapKey]?.trim() ?? ""),
          )),
  ];
}

const holderOf = ({ leader }: ElectionState) => leader ?? "nobody";

function checkLabels(
  state: ElectionState,
  leaders: readonly Pod[],
  isUsed: boolean,
  isMoving: boolean,
  advice: Advice,
): Report[] {
  const about = titleOf(state);
  const names = leaders.map(({ metadata }) => metadata.name);
  const unlabel = (...pods: readonly Pod[]) =>
    advice.kubectl(
      `label pod ${pods.map(({ metadata }) => metadata.name).join(" ")} ${roleLabel}=standby --overwrite`,
    );
  if (names.length > 1) {
    const what = `${names.length} pods have the label ${roleLabel}=leader (${names.join(", ")}), but ${holderOf(state)} leads: traffic goes to all of them`;
    const wrong = leaders.filter((pod) => podOf([pod], state.leader ?? "") === undefined);
    const fix = { fix: "remove the label from the others", command: unlabel(...wrong) };
    return [finding("traffic", what, fix, about)];
  }
  const [only] = leaders;
  if (only === undefined || isMoving)
    return isUsed ? [ok("traffic", "the labels agree with the lock", about)] : [];
  if (podOf([only], state.leader ?? ""))
    return [ok("traffic", `the label is on ${only.metadata.name}, which leads`, about)];
  const what = `the pod ${only.metadata.name} has the label ${roleLabel}=leader, but ${holderOf(state)} leads: traffic goes to the wrong pod`;
  return [
    finding(
      "traffic",
      what,
      {
        fix: "remove the label. If it comes back, the leader has no right to patch pods: see rights",
        command: unlabel(only),
      },
      about,
    ),
  ];
}

function checkSlice(
  state: ElectionState,
  { metadata, endpoints = [] }: Slice,
  pods: readonly Pod[],
  advice: Advice,
): Report {
  const about = titleOf(state);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false);
  const nameFor = ({ targetRef, addresses }: (typeof ready)[number]) =>
    targetRef?.name ??
    pods.find(({ status }) => status?.podIP === addresses?.[0])?.metadata.name ??
    addresses?.[0] ??
    "?";
  const names = ready.map(nameFor);
  const isLeader = (name: string) => state.leader === name || state.leader?.startsWith(`${name}_`) === true;
  if (names.length <= 1 && names.every(isLeader))
    return ok("traffic", `EndpointSlice ${metadata.name} agrees with the lock`, about);
  return finding(
    "traffic",
    `EndpointSlice ${metadata.name} sends traffic to ${names.join(", ")}, but ${holderOf(state)} leads`,
    {
      fix: "the leader repairs it at its next renewal. If it stays wrong, the leader has no right to update endpointslices (see rights) or runs without --service. To stop the traffic now, delete it",
      command: advice.kubectl(`delete endpointslice ${metadata.name}`),
    },
    about,
  );
}

/** Checks only the key of the election. Other keys of the ConfigMap do not matter. */
function checkConfigMap(state: ElectionState, name: string, named: string): Report {
  const about = titleOf(state);
  const isLeader = state.leader === named || state.leader?.startsWith(`${named}_`) === true;
  if (named === "" || isLeader) return ok("traffic", `ConfigMap ${name} agrees with the lock`, about);
  return finding(
    "traffic",
    `ConfigMap ${name} names ${named}, but ${holderOf(state)} leads`,
    "the leader repairs it at its next renewal. If it stays wrong, the leader has no right to update configmaps (see rights), or another process writes it",
    about,
  );
}
