/** Does this candidate hold the lock, and does its time run: asks the API server, so it costs more than a file. */
import { findElection } from "../../elections/find.ts";
import { harmless } from "../../elections/paint.ts";
import type { OperateFlags, Session } from "../../elections/session.ts";
import { titleOf } from "../../elections/words.ts";
import type { Answer } from "./probe.ts";

export async function probeLease(name: string, id: string, session: Session<OperateFlags>): Promise<Answer> {
  const [state] = await findElection(session, session.namespace, name, ["lease"]);
  const title = titleOf(state);
  if (state.leader === id) return { ok: true, line: `${harmless(id)} leads ${title}` };
  const who = state.leader === undefined ? "nobody" : harmless(state.leader);
  return { ok: false, line: `${who} leads ${title}, not ${harmless(id)}` };
}
