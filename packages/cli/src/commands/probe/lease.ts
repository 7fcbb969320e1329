/** Checks that a candidate holds the lock and that its lease has not expired. Asks the API server, so a file is cheaper. */

import type { OperateFlags, Session } from "../../cluster/session.ts";
import { titleOf } from "../../display/descriptions.ts";
import { withoutControls } from "../../display/paint.ts";
import { findElection } from "../../elections/find.ts";
import type { Answer } from "./probe.ts";

export async function probeLease(name: string, id: string, session: Session<OperateFlags>): Promise<Answer> {
  const [state] = await findElection(session, session.namespace, name, ["lease"]);
  const title = titleOf(state);
  if (state.leader === id) return { ok: true, line: `${withoutControls(id)} leads ${title}` };
  const who = state.leader === undefined ? "nobody" : withoutControls(state.leader);
  return { ok: false, line: `${who} leads ${title}, not ${withoutControls(id)}` };
}
