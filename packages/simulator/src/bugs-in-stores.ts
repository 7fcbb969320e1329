/** Known bugs in the locks on etcd and PostgreSQL. */
import type { Bug } from "./bug.ts";

export const bugsInStores: Readonly<Record<string, Bug>> = {
  "etcd-write-without-revision": {
    about: "a lock in etcd is written over any revision",
    width: "stores",
    edits: [
      {
        file: "etcd/etcd-lock.js",
        find: "compare: [{ target: compareModRevision, key, modRevision: over?.revision ?? 0n }],",
        replace: "compare: [],",
      },
    ],
  },
  "etcd-watch-ignored": {
    about: "a change that the watch of etcd reports is only noticed by the next read",
    width: "stores",
    edits: [
      {
        file: "etcd/etcd-lock.js",
        find: "observer.observed(viewOf(clusterId, kv));",
        replace: "viewOf(clusterId, kv);",
      },
    ],
  },
  "etcd-token-never-replaced": {
    about: "a rejected token of etcd is never replaced",
    width: "stores",
    edits: [
      {
        file: "etcd/connection.js",
        find: "isTokenExpired(error) && this.#token !== undefined && !hasNewToken",
        replace: "false",
      },
    ],
  },
  "store-drops-annotations": {
    about: "a lock in a store drops what others wrote beside its record",
    width: "stores",
    edits: [
      {
        file: "election/locks/stored-lock.js",
        find: "return { ...before, record: { ...before.record, ...record } };",
        replace: "return { annotations: {}, record: { ...before.record, ...record } };",
      },
    ],
  },
  "postgres-write-without-revision": {
    about: "a lock in PostgreSQL is written over any revision",
    width: "stores",
    edits: [
      {
        file: "postgres/statements.js",
        find: "AND uid = $4 AND revision = $5 RETURNING",
        replace: "AND uid = $4 RETURNING",
      },
    ],
  },
  "postgres-notification-ignored": {
    about: "a notification of PostgreSQL is only noticed by the next read",
    width: "stores",
    edits: [
      {
        file: "postgres/postgres-lock.js",
        find: "observer.observed(view);",
        replace: ";",
      },
    ],
  },
  "postgres-unconfirmed-write": {
    about: "a commit that no standby has counts as acknowledged",
    width: "stores",
    edits: [{ file: "postgres/session.js", find: "if (this.#isUnconfirmed) {", replace: "if (false) {" }],
  },
  "postgres-unconfirmed-read": {
    about: "a read that shows a commit that no standby has counts as an acknowledgement",
    width: "stores",
    edits: [
      {
        file: "postgres/postgres-lock.js",
        find: "const mustConfirm = this.#ownWrites.areUnknown;",
        replace: "const mustConfirm = false;",
      },
    ],
  },
  "postgres-unconfirmed-notification": {
    about: "a notification of a commit that no standby has counts as an acknowledgement",
    width: "stores",
    edits: [
      {
        file: "postgres/own-writes.js",
        find: "if (!this.#unknown.some((own) => sameRecord(own, record)))",
        replace: "if (record)",
      },
    ],
  },
};
