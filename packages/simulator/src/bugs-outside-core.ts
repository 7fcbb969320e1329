/** Known bugs in election and kube. Only the wide simulation runs that code. */

import type { Bug } from "./bug.ts";

export const bugsOutsideCore: Readonly<Record<string, Bug>> = {
  "term-valid-until-told": {
    about: "term.isValid() checks a flag, not the clock",
    width: "wide",
    edits: [
      {
        file: "election/term.js",
        find: "return !this.#isClosed && isBefore(this.#clock.now(), this.#validUntil());",
        replace: "return !this.#isClosed && !this.#expired.signal.aborted;",
      },
    ],
  },
  "release-while-working": {
    about: "the lock is released when the work is told to stop, not when it has stopped",
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
  "release-during-tasks": {
    about: "the lock is released while a task of runIfLeader or term.run has not stopped",
    width: "wide",
    edits: [{ file: "election/serve-term.js", find: "if (!term.tasks.isIdle) {", replace: "if (false) {" }],
  },
  "overrun-not-reported": {
    about: "nobody is told that the work still runs at the hard deadline",
    width: "wide",
    edits: [
      { file: "election/runner.js", find: 'this.#events.emit("overrun", this.#served);', replace: ";" },
    ],
  },
  "lock-drops-metadata": {
    about: "a lock writes an object of its own instead of the one that it read",
    width: "wide",
    edits: [
      {
        file: "election/locks/object-lock.js",
        find: "this.#labelled(before ?? this.#newObject())",
        replace:
          "this.#labelled({ ...(before ?? this.#newObject()), metadata: { ...(before ?? this.#newObject()).metadata, labels: {} } })",
      },
    ],
  },
  "annotation-lock-drops-annotations": {
    about: "a lock in an annotation drops all other annotations",
    width: "wide",
    edits: [
      {
        file: "election/locks/annotation-lock.js",
        find: "const annotations = { ...object.metadata.annotations, [leaderAnnotation]: json };",
        replace: "const annotations = { [leaderAnnotation]: json };",
      },
    ],
  },
  "write-without-version": {
    about: "a Lease is written over any version",
    width: "wide",
    edits: [
      {
        file: "election/locks/lease-lock.js",
        find: "return { ...object, spec:",
        replace: "return { ...object, metadata: { ...object.metadata, resourceVersion: undefined }, spec:",
      },
    ],
  },
  "unreadable-is-free": {
    about: "a record that cannot be read counts as released",
    width: "wide",
    edits: [
      {
        file: "election/locks/record-fields.js",
        find: 'holderIdentity !== null && typeof holderIdentity !== "string"',
        replace: "false",
      },
      {
        file: "election/locks/record-fields.js",
        find: 'holderIdentity: holderIdentity ?? "",',
        replace: 'holderIdentity: typeof holderIdentity === "string" ? holderIdentity : "",',
      },
    ],
  },
  "token-never-read-again": {
    about: "a rotated service account token is not read again",
    width: "wide",
    edits: [
      { file: "kube/credentials/in-cluster.js", find: "token.forget();", replace: "" },
      {
        file: "kube/credentials/rotating-file.js",
        find: "const rereadMs = 60_000;",
        replace: "const rereadMs = Infinity;",
      },
    ],
  },
  "watch-ignored": {
    about: "a change that the watch reports is only noticed by the next read",
    width: "wide",
    edits: [
      {
        file: "election/locks/object-lock.js",
        find: "observer.observed(this.#view(object));",
        replace: "this.#view(object);",
      },
    ],
  },
};
