/**
 * Known bugs, each as a change of the built code. The simulator must find them, or its results mean nothing.
 * They are planted into a copy, so the shipped code does not contain them.
 */

import type { Bug } from "./bug.ts";
import { bugsInCoordination } from "./bugs-in-coordination.ts";
import { bugsInMigration } from "./bugs-in-migration.ts";
import { bugsInStores } from "./bugs-in-stores.ts";
import { bugsOutsideCore } from "./bugs-outside-core.ts";

export const bugs: Readonly<Record<string, Bug>> = {
  "validity-from-acknowledgement": {
    about: "deadlines count from when the answer arrived, not from when the write was sent",
    edits: [
      {
        file: "core/observe.js",
        find: "term = { token: view.revision, sent: ownWrite.sent,",
        replace: "term = { token: view.revision, sent: ctx.at,",
      },
      {
        file: "core/observe.js",
        find: "term: { ...phase.term, sent: ownWrite.sent }",
        replace: "term: { ...phase.term, sent: ctx.at }",
      },
    ],
  },
  "release-over-another": {
    about: "a candidate that lost its term still releases the lock, over any holder's record",
    edits: [
      {
        file: "core/step.js",
        find: 'case "lost":\n            endTerm(ctx, phase.reason, false, phase.cooldownMs);',
        replace:
          'case "lost": ctx.state.phase = { ...phase, name: "releasing", cooldownMs: 0, wasStarted: true, term: { ...phase.term, sent: ctx.at } };',
      },
      {
        file: "core/observe.js",
        find: "else if (!isSameLock || (!ownWrite && !onlyMetadataChanged))",
        replace: "else if (false)",
      },
    ],
  },
  "rewin-inside-term": {
    about: "a leader that sees another holder continues and takes the lock back",
    edits: [
      {
        file: "core/observe.js",
        find: 'loseTerm(ctx, hasOurIdentity ? "overwritten" : "taken-over", false);',
        replace: "void hasOurIdentity;",
      },
    ],
  },
  "remote-timestamps": {
    about: "a holder's lease counts from the renewTime that it wrote, by the reader's clock",
    edits: [
      {
        file: "core/observe.js",
        find: "onlyMetadataChanged ? before.sinceMs : ctx.at.monoMs;",
        replace: "ctx.at.monoMs - ctx.at.wallMs + Date.parse(view.record.renewTime);",
      },
    ],
  },
  "watch-trusted-after-gap": {
    about: "a change that is seen after a gap in the watch does not restart the wait",
    edits: [
      {
        file: "core/observe.js",
        find: "onlyMetadataChanged ? before.sinceMs : ctx.at.monoMs;",
        replace:
          "ctx.at.monoMs - before.sinceMs > ctx.config.timings.leaseDurationMs / 3 ? before.sinceMs : ctx.at.monoMs;",
      },
    ],
  },
  "stop-after-hard-deadline": {
    about: "the hard deadline is after the end of the lease",
    edits: [
      {
        file: "core/timings.js",
        find: "return leaseDurationMs * (1 - clockRateTolerance) - marginMs;",
        replace: "return leaseDurationMs * 1.1;",
      },
    ],
  },
  "token-from-transitions": {
    about: "the fencing token is leaseTransitions",
    edits: [
      {
        file: "core/observe.js",
        find: 'ctx.effects.push({ type: "term-started", token: view.revision });',
        replace: 'ctx.effects.push({ type: "term-started", token: BigInt(leaseTransitions) });',
      },
    ],
  },
  "same-identity-continues": {
    about: "a lock with the candidate's identity is treated as its own, even if another process wrote it",
    edits: [
      {
        file: "core/queries.js",
        find: "const isFree = isRelease(record) || (ownWriteOf(state, record) !== undefined && waitMs === 0);",
        replace: "const isFree = isRelease(record) || record.holderIdentity === config.identity;",
      },
    ],
  },
  "deletion-is-release": {
    about: "a deleted lock is acquired at once",
    edits: [
      {
        file: "core/observe.js",
        find: "ctx.state.vanishedHolderUntilMs = Math.max(ctx.state.vanishedHolderUntilMs, untilMs);",
        replace: "void untilMs;",
      },
    ],
  },
  "vanished-holder-last-seen-lease": {
    about: "after a deletion, only the lease of the holder that was seen last is waited out",
    edits: [
      {
        file: "core/observe.js",
        find: "ctx.at.monoMs + Math.max(ctx.state.longestLeaseMs, ctx.config.timings.leaseDurationMs);",
        replace:
          'ctx.at.monoMs + (ctx.state.lock.view.record.holderIdentity === "" ? ctx.config.timings.leaseDurationMs : leaseDurationMs(ctx.config, ctx.state.lock.view.record));',
      },
    ],
  },
  "emptied-is-released": {
    about: "a holder that was emptied by hand is treated as a release",
    edits: [
      {
        file: "core/queries.js",
        find: "const isFree = isRelease(record)",
        replace: 'const isFree = record.holderIdentity === ""',
      },
    ],
  },
  "validity-by-flag": {
    about: "a leader that was frozen checks a flag, not the clock, to decide whether it may work",
    edits: [
      {
        file: "core/queries.js",
        find: "return end !== undefined && at.monoMs < end.monoMs && at.wallMs < end.wallMs;",
        replace: "return end !== undefined;",
      },
    ],
  },
  "suspension-unseen": {
    about: "only the monotonic clock counts, which stops while the machine is suspended",
    edits: [
      {
        file: "core/instant.js",
        find: "return Math.max(now.monoMs - since.monoMs, now.wallMs - since.wallMs);",
        replace: "return now.monoMs - since.monoMs;",
      },
      { file: "core/instant.js", find: "return jumpMs > 0", replace: "return false" },
      { file: "core/queries.js", find: " && at.wallMs < end.wallMs;", replace: ";" },
    ],
  },
  "metadata-is-a-renewal": {
    about: "a change of an annotation extends the lease of the holder",
    edits: [
      {
        file: "core/observe.js",
        find: "onlyMetadataChanged ? before.sinceMs : ctx.at.monoMs;",
        replace: "ctx.at.monoMs;",
      },
    ],
  },
  "pause-ignored": {
    about: "a paused lock is acquired",
    edits: [{ file: "core/queries.js", find: "if (orders.paused)", replace: "if (false)" }],
  },
  "transfer-ignored": {
    about: "a candidate that is not the target of a transfer does not wait",
    edits: [
      {
        file: "core/queries.js",
        find: "isTransferToAnother(config, record, orders) ? config.timings.leaseDurationMs : 0;",
        replace: "0;",
      },
    ],
  },
  "transfer-not-accepted": {
    about: "a transfer takes effect before the named candidate has accepted it",
    edits: [
      {
        file: "core/queries.js",
        find: "isTransferToAnother(config, record, { transfer }) {\n    return (transfer?.accepted === true &&",
        replace: "isTransferToAnother(config, record, { transfer }) {\n    return (transfer !== undefined &&",
      },
    ],
  },
  "rollback-unseen": {
    about: "a candidate ignores the lock after the store was restored from a backup",
    edits: [{ file: "core/step.js", find: "handleStoreRollback(ctx, answer.view);", replace: "void 0;" }],
  },
  "rollback-is-release": {
    about: "after the store was restored, the holder that it no longer shows is not waited for",
    edits: [
      {
        file: "core/observe.js",
        find: 'if (state.lock.kind === "present")\n        waitForVanishedHolder(ctx);',
        replace: "",
      },
    ],
  },
  "object-not-sent-back": {
    about: "a write does not send back what others wrote into the object",
    edits: [
      {
        file: "core/step.js",
        find: 'ctx.effects.push({ type: "write", id, purpose, over, record, timeoutMs });',
        replace:
          'ctx.effects.push({ type: "write", id, purpose, over: over && { ...over, object: { annotations: {} } }, record, timeoutMs });',
      },
    ],
  },
  "late-confirmation-extends": {
    about: "a confirmation that arrives after the hard deadline extends the term",
    onlySearched: "a process must be frozen just long enough, while its renewal is committed",
    edits: [
      {
        file: "core/observe.js",
        find: "if (elapsedMs(phase.term.sent, ctx.at) >= ctx.config.timings.hardDeadlineMs)\n        return;",
        replace: "",
      },
    ],
  },
  ...bugsInCoordination,
  ...bugsOutsideCore,
  ...bugsInMigration,
  ...bugsInStores,
};
