/** Searches every history of a scope, shortest first. Histories that lead to the same state are continued once. */
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
  let level: Node[] = [{ play: Play.start(options), history: [] }];
  for (let length = 0; length < depth && level.length > 0; length++) {
    const next: Node[] = [];
    for (const node of level) {
      for (const action of actions) {
        transitions += 1;
        const play = node.play.copy();
        play.act(action);
        const history = [...node.history, action];
        const [message] = play.rules.violations;
        if (message !== undefined) {
          return { states: seen.size, transitions, violation: { message, history: history.map(nameOf) } };
        }
        const key = createHash("md5").update(play.key()).digest("base64");
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ play, history });
      }
    }
    level = next;
  }
  return { states: seen.size, transitions };
}

interface Node {
  readonly play: Play;
  readonly history: readonly Action[];
}

function nameOf({ do: name, ...facts }: Action): string {
  return [name, ...Object.values(facts)].join(" ");
}
