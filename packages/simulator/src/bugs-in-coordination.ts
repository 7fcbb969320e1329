/** Known bugs of coordinated elections. Only wide histories have an API server that chooses the leader. */
import type { Bug } from "./bug.ts";

export const bugsInCoordination: Readonly<Record<string, Bug>> = {
  "named-is-free": {
    about: "a candidate that the API server names does not wait for the last holder by its own clock",
    width: "wide",
    edits: [
      {
        file: "core/queries.js",
        find: "return Math.max(state.vanishedHolderUntilMs, lock.sinceMs);",
        replace: "return lock.sinceMs;",
      },
    ],
  },
  "another-name-in-between": {
    about: "a candidate forgets the last holder when the API server names another candidate",
    width: "wide",
    edits: [
      { file: "core/observe.js", find: "if (isNaming(view))", replace: "if (isNamed(ctx.config, view))" },
    ],
  },
  "lead-by-name": {
    about:
      "a candidate acquires the lock again at once when the API server repeats its name, while its work still stops",
    width: "wide",
    edits: [
      {
        file: "core/queries.js",
        find: "return coordinated === true && view.record.holderIdentity === identity && isNaming(view);",
        replace: "return coordinated === true && view.record.holderIdentity === identity;",
      },
    ],
  },
};
