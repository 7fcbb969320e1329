/** Known bugs in the lock over two objects. Only the wide simulation runs migrations. */
import type { Bug } from "./bug.ts";

export const bugsInMigration: Readonly<Record<string, Bug>> = {
  "migration-holds-one": {
    about: "a term starts when only the first of the two objects is written",
    width: "migrating",
    edits: [
      {
        file: "election/locks/migration-protocol.js",
        find: 'const order = isEmpty ? ["to", "from"] : ["from", "to"];',
        replace: 'const order = ["from"];',
      },
      {
        file: "election/locks/migration-protocol.js",
        find: "to: viewIn(answers.to) } };",
        replace: "to: viewIn(answers.to) ?? viewIn(answers.from) } };",
      },
    ],
  },
  "migration-waits-for-one": {
    about: "two objects with different holders count as free if one of them is",
    width: "migrating",
    edits: [
      {
        file: "election/locks/migration-records.js",
        find: "if (holderIdentity !== from.holderIdentity)\n        return joinRecords(unknownHolder, from, to);",
        replace:
          'if (holderIdentity !== from.holderIdentity)\n        return holderIdentity === "" ? to : from;',
      },
    ],
  },
  "migration-deletion-is-release": {
    about: "the deletion of one of the two objects does not make candidates wait for its holder",
    width: "migrating",
    firstSeed: 2_750,
    edits: [
      {
        file: "election/locks/migration-protocol.js",
        find: "(hasLostAnObject(state.known, views) ? 1 : 0)",
        replace: "0",
      },
    ],
  },
  "migration-half-is-won": {
    about: "a record in only one of the two objects counts as a confirmed write",
    width: "migrating",
    edits: [
      {
        file: "election/locks/migration-records.js",
        find: "return isOwn(record.holderIdentity) ? joinRecords(unknownHolder, record, noRecord) : record;",
        replace: "return record;",
      },
    ],
  },
  "migration-forgets-writes": {
    about: "a renewal that reached only one of the two objects counts as confirmed",
    width: "migrating",
    edits: [
      {
        file: "election/locks/migration-protocol.js",
        find: 'if (answer.kind !== "found")\n            return { do: "give-up", answer };',
        replace:
          'if (answer.kind !== "found" && side === order[0])\n            return { do: "give-up", answer };',
      },
      {
        file: "election/locks/migration-protocol.js",
        find: "to: viewIn(answers.to) } };",
        replace: "to: viewIn(answers.to) ?? viewIn(answers.from) } };",
      },
    ],
  },
};
