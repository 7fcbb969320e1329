/** Rejects a transfer to a name that no candidate has, before the order is written. */
import { nearest, quote } from "@tenure/base";
import { ago } from "../../display/durations.ts";
import { withoutControls } from "../../display/paint.ts";
import { type Candidate, listCandidates } from "../../elections/candidates.ts";
import { findElection, type Reader } from "../../elections/find.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { CliError } from "../../errors.ts";

interface Where {
  readonly kinds?: readonly LockKind[];
  readonly namespace: string;
  readonly name: string;
}

/**
 * If no candidate shows itself, every name is accepted: the candidates may be of a kind that does not. Then the order itself finds
 * out, because a candidate has to accept it.
 */
export async function requireCandidate(reader: Reader, where: Where, to: string): Promise<void> {
  const [state] = await findElection(reader, where.namespace, where.name, where.kinds);
  if (state.leader === to) return;
  const problem = absenceOf(to, (await listCandidates(reader, state)) ?? []);
  if (problem === undefined) return;
  throw new CliError(
    "Failed",
    `Cannot transfer ${where.namespace}/${where.name}: ${problem}. Nothing was changed. To ask a candidate that does not show itself, add --unlisted`,
  );
}

/** Undefined if the candidate may be there. */
export function absenceOf(to: string, candidates: readonly Candidate[]): string | undefined {
  const found = candidates.find(({ identity }) => identity === to);
  if (found?.isPresent || candidates.length === 0) return undefined;
  if (found) return `${quote(to)} was last seen ${ago(found.seenMs ?? 0)} and counts as gone`;
  const present = candidates
    .filter(({ isPresent }) => isPresent)
    .map(({ identity }) => withoutControls(identity));
  const nobody = `no candidate is named ${quote(to)}`;
  const meant = nearest(to, present);
  if (meant !== undefined) return `${nobody}, but one is named ${quote(meant)}`;
  return present.length === 0
    ? `${nobody}, and no other is present`
    : `${nobody}. Candidates: ${present.join(", ")}`;
}
