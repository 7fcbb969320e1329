/** Searches every state that can be reached within a scope. */
import { createHash } from "node:crypto";
import { canonicalText } from "./canonical.ts";
import { actionsOf, initialWorld } from "./model.ts";
import { type Action, OutOfScope, type Scope, Violation, type World } from "./world.ts";

export interface SearchResult {
  readonly states: number;
  readonly transitions: number;
  /** The longest history that was needed to reach a new state. */
  readonly depth: number;
  /** Whether every reachable state was visited. */
  readonly isExhausted: boolean;
  readonly violation?: { readonly message: string; readonly history: readonly string[] };
}

interface Node {
  readonly world: World;
  readonly depth: number;
  readonly parent: Node | undefined;
  readonly action: string;
}

/** Breadth first, so that the first violation has the shortest history. */
export function search(
  scope: Scope,
  { mostStates = Number.POSITIVE_INFINITY }: SearchOptions = {},
): SearchResult {
  const seen = new Set<string>();
  let transitions = 0;
  let depth = 0;
  let level: Node[] = [{ world: initialWorld(scope), depth: 0, parent: undefined, action: "start" }];
  for (const { world } of level) seen.add(keyOf(world));
  while (level.length > 0) {
    const next: Node[] = [];
    for (const node of level) {
      for (const action of actionsOf(node.world, scope)) {
        transitions += 1;
        const world = tryAction(action, node.world);
        if (world instanceof Violation) {
          const history = [...historyOf(node), action.name];
          return {
            states: seen.size,
            transitions,
            depth,
            isExhausted: false,
            violation: { message: world.message, history },
          };
        }
        if (!world) continue;
        const key = keyOf(world);
        if (seen.has(key)) continue;
        seen.add(key);
        if (seen.size >= mostStates) return { states: seen.size, transitions, depth, isExhausted: false };
        next.push({ world, depth: node.depth + 1, parent: node, action: action.name });
      }
    }
    if (next.length > 0) depth += 1;
    level = next;
  }
  return { states: seen.size, transitions, depth, isExhausted: true };
}

interface SearchOptions {
  readonly mostStates?: number;
}

function tryAction(action: Action, world: World): World | Violation | undefined {
  try {
    return action.apply(world);
  } catch (error) {
    if (error instanceof Violation) return error;
    if (error instanceof OutOfScope) return undefined;
    throw error;
  }
}

function historyOf(node: Node): string[] {
  return node.parent ? [...historyOf(node.parent), node.action] : [];
}

function keyOf(world: World): string {
  return createHash("md5").update(canonicalText(world)).digest("base64");
}
