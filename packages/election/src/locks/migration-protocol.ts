/**
 * The protocol over the two objects of a migration, as pure functions: hold both, or hold nothing. MigrationLock performs it.
 *
 * - Each object is a lock of its own. A candidate writes to it only after it has waited for the record in that object, with a
 *   compare-and-swap. Candidates that use only one of the objects rely on nothing else, so they are safe beside this one (G1).
 * - A write goes to one object after the other and stops at the first that does not confirm it. The caller learns of a
 *   success only if both confirm.
 * - An acquisition or renewal goes to `from` first, so a record in `to` proves that `from` had it before. A release goes to
 *   `to` first. The work has stopped by then, so a crash between the two costs a wait, and nothing else.
 *
 * It compares revisions of the two objects, so both must be in the same store. It does not make candidates that use only
 * `from` safe beside candidates that use only `to`: no object is common to them.
 */
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import { sameRecord } from "@tenure/core";
import { combineRecords, onlyRecord } from "./migration-records.ts";

export type Side = "from" | "to";

/** The two objects; undefined if one does not exist. */
export interface Views {
  readonly from: LockView | undefined;
  readonly to: LockView | undefined;
}

export interface ProtocolState {
  /** What was read or written last. Each answer replaces this value, even if nothing changed. */
  readonly known: Views;
  /** Grows when an object that was known to exist is deleted or replaced. */
  readonly generation: number;
  /** The revision of the last view. It must not fall if the newer of the two objects is deleted. */
  readonly revision: bigint;
  /** The identities that the candidate has written: one, unless several candidates share this lock. */
  readonly identities: readonly string[];
  /** What is being written: the watch event of a write may come before its answer. */
  readonly writing: readonly LeaderRecord[];
}

export const initialProtocolState: ProtocolState = {
  known: { from: undefined, to: undefined },
  generation: 0,
  revision: -1n,
  identities: [],
  writing: [],
};

/**
 * The answer for the candidate, from the two objects as a read or a complete write showed them.
 * @param knownAtStart the value of `state.known` when the request was sent
 */
export function observeViews(
  state: ProtocolState,
  views: Views,
  knownAtStart: Views,
): { readonly state: ProtocolState; readonly answer: Answer } {
  // If another request was answered meanwhile, it is unclear which of the two shows the newer state.
  if (state.known !== knownAtStart) {
    const age = ageOf(views, state.known);
    if (age === "unknown") return { state, answer: { kind: "conflict" } };
    if (age === "older") return { state, answer: combinedAnswer(state, views) };
  }
  const next: ProtocolState = {
    ...state,
    known: views,
    generation: state.generation + (hasLostAnObject(state.known, views) ? 1 : 0),
    revision: revisionOf(views, hasGoneBack(state.known, views) ? -1n : state.revision),
  };
  return { state: next, answer: combinedAnswer(next, views) };
}

/** The answer of a read from the answers for the two objects, if it does not depend on what they contain. */
export function failedRead(from: Answer, to: Answer): Answer | undefined {
  return [from, to].find(({ kind }) => kind === "failed" || kind === "conflict");
}

export function beginWrite(state: ProtocolState, record: LeaderRecord): ProtocolState {
  const { holderIdentity } = record;
  const isNew = holderIdentity !== "" && !state.identities.includes(holderIdentity);
  return {
    ...state,
    identities: isNew ? [...state.identities, holderIdentity] : state.identities,
    writing: [...state.writing, record],
  };
}

export function endWrite(state: ProtocolState, record: LeaderRecord): ProtocolState {
  return { ...state, writing: state.writing.filter((other) => other !== record) };
}

/** The next step of a write. */
export type WriteStep =
  | { readonly do: "write"; readonly side: Side }
  /** One object did not confirm. Nothing is known about the lock until it is read. */
  | { readonly do: "give-up"; readonly answer: Answer }
  | { readonly do: "complete"; readonly views: Views };

/** @param answers the answers of the objects that were written already */
export function nextWriteStep(
  record: LeaderRecord,
  answers: Readonly<Partial<Record<Side, Answer>>>,
): WriteStep {
  const isEmpty = record.holderIdentity === "";
  const order: readonly Side[] = isEmpty ? ["to", "from"] : ["from", "to"];
  for (const side of order) {
    const answer = answers[side];
    if (!answer) return { do: "write", side };
    // The lock may still exist in the other object. A conflict makes the candidate read both.
    if (answer.kind === "absent") return { do: "give-up", answer: { kind: "conflict" } };
    if (answer.kind !== "found") return { do: "give-up", answer };
  }
  return { do: "complete", views: { from: viewIn(answers.from), to: viewIn(answers.to) } };
}

/** Whether a watch event shows something that the candidate does not know from its own requests. */
export function isNews(state: ProtocolState, side: Side, view: LockView): boolean {
  if (view.version === state.known[side]?.version) return false;
  return !state.writing.some((record) => sameRecord(record, view.record));
}

export function viewIn(answer: Answer | undefined): LockView | undefined {
  return answer?.kind === "found" ? answer.view : undefined;
}

function combinedAnswer(state: ProtocolState, { from, to }: Views): Answer {
  const newest = newestOf({ from, to });
  if (!newest) return { kind: "absent" };
  const isOwn = (identity: string) => state.identities.includes(identity);
  const record =
    from && to
      ? combineRecords({ from: from.record, to: to.record }, isOwn)
      : onlyRecord(newest.record, isOwn);
  // The record depends on which holders are this candidate itself, which it may learn later. The same version has the same record.
  const hasOwn = [from, to].some((view) => view && isOwn(view.record.holderIdentity));
  // An operator may have written an order to only one of the two.
  const orders = (from?.orders || to?.orders) && { ...from?.orders, ...to?.orders };
  const view: LockView = {
    // A deletion or replacement of either object makes this another lock, whose last holder may still be working. The
    // creation of a missing object does not: nobody can have held it before.
    uid: `generation ${state.generation}`,
    version: hasOwn ? `${versionOf({ from, to })} own` : versionOf({ from, to }),
    revision: revisionOf({ from, to }, state.revision),
    record,
    ...(orders && { orders }),
    object: { from, to },
  };
  return { kind: "found", view };
}

function versionOf({ from, to }: Views): string {
  return `${from?.version ?? "-"}/${to?.version ?? "-"}`;
}

/** The object in which to accept the transfer in `over`; undefined if `over` is not what is known. */
export function sideToAccept(known: Views, over: LockView): Side | undefined {
  if (versionOf(known) !== versionOf((over.object ?? {}) as Views)) return undefined;
  return known.to?.orders?.transfer ? "to" : known.from?.orders?.transfer ? "from" : undefined;
}

function newestOf({ from, to }: Views): LockView | undefined {
  if (!from || !to) return from ?? to;
  return from.revision > to.revision ? from : to;
}

/** With both objects it is the real one, which shows late answers and a restored store. The revision of a deletion is not known. */
function revisionOf(views: Views, before: bigint): bigint {
  const revision = newestOf(views)?.revision ?? before;
  return (views.from && views.to) || revision > before ? revision : before;
}

/** Whether an object has an older revision than before: the store was restored from a backup. */
function hasGoneBack(before: Views, after: Views): boolean {
  const isOlder = (now: LockView | undefined, then: LockView | undefined) =>
    now !== undefined && then !== undefined && now.revision < then.revision;
  return isOlder(after.from, before.from) || isOlder(after.to, before.to);
}

function hasLostAnObject(before: Views, after: Views): boolean {
  return (["from", "to"] as const).some((side) => before[side] && before[side].uid !== after[side]?.uid);
}

/** Compares an answer with what became known while it was on its way. An absence has no revision, so its age is unknown. */
function ageOf(views: Views, known: Views): "older" | "newer" | "unknown" {
  const { from, to } = views;
  if (!from || !to) return "unknown";
  const isOlder = (side: Side, view: LockView) => view.revision < (known[side]?.revision ?? -1n);
  const older = [isOlder("from", from), isOlder("to", to)];
  if (!older.includes(true)) return "newer";
  return (newestOf(views)?.revision ?? -1n) < (newestOf(known)?.revision ?? -1n) ? "older" : "unknown";
}
