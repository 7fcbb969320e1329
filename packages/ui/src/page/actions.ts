/** The buttons with which a viewer gives orders. There is a button only if the viewer may use it. */
import { type ElectionLine, presentTerm } from "../model/election.ts";
import { spell } from "../model/spell.ts";
import type { ElectionRights, OrderGiven } from "../server/server.ts";
import type { App } from "./app.ts";
import { confirmOrder } from "./dialog.ts";
import { element } from "./dom.ts";
import { ask } from "./stream.ts";

export async function actionButtons(
  app: App,
  line: ElectionLine,
  candidates: readonly string[],
): Promise<HTMLElement[]> {
  if (!app.facts.canAct || line.owners !== undefined) return [];
  const rights = await ask<ElectionRights>(`rights?election=${encodeURIComponent(line.key)}`).catch(
    (error: unknown): ElectionRights => ({ allowed: false, why: String(error) }),
  );
  if (!rights.allowed)
    return [element("p", { class: "denied" }, `You can look, but not act. ${rights.why ?? ""}`)];
  const leader = presentTerm(line)?.holder;
  const others = candidates.filter((id) => id !== leader);
  const give = (
    order: OrderGiven["order"],
    title: string,
    text: string,
    more: { to?: string; asksReason?: boolean } = {},
  ) => confirmOrder({ order, election: line.key, title, text, ...more });
  return [
    ...(leader === undefined
      ? []
      : [
          button("Step down", () =>
            give("step-down", `Make ${leader} step down?`, stepDownText(leader, others)),
          ),
          ...others.map((to) =>
            button(`Transfer to ${to}`, () =>
              give("transfer", `Transfer leadership to ${to}?`, transferText(line, leader, to), { to }),
            ),
          ),
        ]),
    line.orders.paused
      ? button("Resume", () =>
          give(
            "resume",
            `Resume ${line.key}?`,
            "Candidates may take the lock again. One of them leads within moments.",
          ),
        )
      : button("Pause…", () => give("pause", `Pause ${line.key}?`, pauseText(leader), { asksReason: true })),
  ];
}

function button(text: string, click: () => void): HTMLElement {
  return element("button", { type: "button", click }, text);
}

const obedience = "Only tenure candidates obey orders.";

function stepDownText(leader: string, others: readonly string[]): string {
  const next =
    others.length === 0
      ? `No other candidate is known: if there is none, nobody leads until ${leader} may lead again.`
      : "Another candidate takes over.";
  return `${leader} stops its work, releases the lock and stays out of the election for its cool-down. ${next} ${obedience}`;
}

function transferText(line: ElectionLine, leader: string, to: string): string {
  const leaseMs = presentTerm(line)?.leaseMs ?? 0;
  return (
    `${to} accepts. Then ${leader} stops its work and releases the lock, and for one lease duration (${spell(leaseMs)}) only ${to} ` +
    `may take it. If ${to} does not answer, the order is withdrawn and ${leader} stays. ${obedience}`
  );
}

function pauseText(leader: string | undefined): string {
  const who = leader === undefined ? "" : `${leader} stops its work and releases the lock. `;
  return `${who}No candidate takes over until somebody resumes the election: until then no replica does the work. ${obedience}`;
}
