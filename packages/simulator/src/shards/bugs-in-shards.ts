/** Known bugs of sets of shards, each as a change of the built code. The simulation must find every one. */
import type { Bug } from "../bug.ts";

export const bugsInShards: Readonly<Record<string, Bug>> = {
  "shards-without-fence": {
    about: "a member whose lease has expired counts as dead, although it can still renew it",
    edits: [
      {
        file: "core/shards/members.js",
        find: "if (record.acquireTime === incarnation.acquired && isHeld(known.view))\n        return undefined;",
        replace:
          "if (record.acquireTime === incarnation.acquired && isHeld(known.view)) return known.sinceMs + leaseMs;",
      },
    ],
  },
  "shards-gone-is-dead": {
    about: "a member whose lease was deleted counts as dead at once",
    edits: [
      {
        file: "core/shards/members.js",
        find: "undefined : sinceMs + incarnation.leaseSeconds * 1_000",
        replace: "undefined : sinceMs",
      },
    ],
  },
  "shards-given-while-working": {
    about: "a shard is given away before its work has stopped",
    edits: [
      {
        file: "core/shards/agenda.js",
        find: 'if (term.phase !== "stopped")',
        replace: 'if (term.phase !== "stopped" && term.phase !== "draining")',
      },
    ],
  },
  "shards-new-map-at-once": {
    about:
      "a new map in place of a deleted one is used without waiting for those who own shards by the old one",
    edits: [
      {
        file: "core/shards/next-map.js",
        find: "forming: false, waiting: others",
        replace: "forming: false, waiting: []",
      },
    ],
  },
  "shards-ignore-deletion": {
    about: "members go on by a map that was deleted, and join the new one meanwhile",
    edits: [
      {
        file: "core/shards/terms.js",
        find: "for (const [shard, term] of ctx.state.terms) {\n        if (own.has(shard)",
        replace:
          "for (const [shard, term] of ctx.state.terms) {\n        if (!view || !member || own.has(shard)",
      },
      { file: "core/shards/agenda.js", find: "mayJoin: state.terms.size === 0,", replace: "mayJoin: true," },
    ],
  },
  "shards-count-at-once": {
    about: "the count changes while shards of the old count still have owners",
    edits: [
      {
        file: "core/shards/next-map.js",
        find: "const isUnowned = freeShards(map).length === map.count;",
        replace:
          "map = { ...map, members: map.members.map((one) => ({ ...one, shards: [] })) }; const isUnowned = true;",
      },
    ],
  },
  "shards-kept-without-write": {
    about: "a shard whose work has stopped starts again without a new map, so its token does not grow",
    edits: [
      {
        file: "core/shards/terms.js",
        find: "term?.reclaimedOver !== undefined && revision > term.reclaimedOver;",
        replace: 'term?.phase === "stopped" && !term.isMove && (term.restUntilMs ?? 0) <= ctx.at.monoMs;',
      },
      { file: "core/shards/terms.js", find: "|| revision > lastToken)", replace: "|| true)" },
    ],
  },
  "shards-lost-lease-kept": {
    about: "a member that lost its lease does not stop its work before it joins again",
    edits: [
      {
        file: "core/shards/step.js",
        find: 'if (membership.kind === "lost" && isIdle) {',
        replace: 'if (membership.kind === "lost") {',
      },
      { file: "core/shards/agenda.js", find: "mayJoin: state.terms.size === 0,", replace: "mayJoin: true," },
      {
        file: "core/shards/terms.js",
        find: "loseOthers(ctx, view, member);\n",
        replace: "\n",
      },
    ],
  },
  "shards-never-taken-over": {
    about: "nobody takes the shards of dead members",
    edits: [{ file: "core/shards/next-map.js", find: "!dead.has(keyOf(one))", replace: "true || dead" }],
  },
  "shards-never-move": {
    about: "a member with too many shards keeps them",
    edits: [{ file: "core/shards/plan.js", find: "if (excess <= 0)", replace: "if (excess <= 1_000)" }],
  },
  "shards-map-overwritten": {
    about: "a map is written over whatever map there is",
    width: "wide",
    edits: [
      {
        file: "election/shards/lease-set-store.js",
        find: "const body = { ...before, metadata: { ...before.metadata, annotations, labels } };",
        replace:
          "const body = { ...before, metadata: { ...before.metadata, resourceVersion: undefined, annotations, labels } };",
      },
    ],
  },
  "shards-lease-overwritten": {
    about: "a member is fenced although it has renewed its lease meanwhile",
    width: "wide",
    edits: [
      {
        file: "election/shards/lease-set-store.js",
        find: "const body = leaseKind.write(over.object, record);",
        replace:
          "const body = leaseKind.write({ ...over.object, metadata: { ...over.object.metadata, resourceVersion: undefined } }, record);",
      },
    ],
  },
  "shards-stopped-too-early": {
    about: "a member counts work as stopped when it is told to stop",
    width: "wide",
    edits: [
      {
        file: "election/serve-term.js",
        find: "await work(term);",
        replace:
          'await Promise.race([work(term), new Promise((resolve) => term.signal.addEventListener("abort", resolve))]);',
      },
    ],
  },
};
