/**
 * Searches every history of a scope, shortest first. A state is reached again by playing its history from the start, so that the
 * world need not be copied. Histories that lead to the same state are continued once.
 */
import { createHash } from "node:crypto";
import { type Action, Play } from "@tenure/supervisor/internal";
import type { SupervisorScope } from "./scopes.ts";

export interface SupervisorSearchResult {
  readonly states: number;
  readonly transitions: number;
  readonly violation?: { readonly message: string; readonly history: readonly string[] };
}

export function searchSupervisor({ options, actions, depth }: SupervisorScope): SupervisorSearchResult {
  const seen = new Set<string>();
  let transitions = 0;
  let level: (readonly Action[])[] = [[]];
  for (let length = 0; length < depth && level.length > 0; length++) {
    const next: (readonly Action[])[] = [];
    for (const history of level) {
      for (const action of actions) {
        transitions += 1;
        const longer = [...history, action];
        const play = new Play(options);
        play.world.send({ type: "start" });
        for (const each of longer) play.act(each);
        const [message] = play.rules.violations;
        if (message !== undefined) {
          return { states: seen.size, transitions, violation: { message, history: longer.map(nameOf) } };
        }
        const key = createHash("md5").update(play.key()).digest("base64");
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(longer);
      }
    }
    level = next;
  }
  return { states: seen.size, transitions };
}

function nameOf({ do: name, ...facts }: Action): string {
  return [name, ...Object.values(facts)].join(" ");
}
