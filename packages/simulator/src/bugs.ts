/**
 * Known mistakes, each as a change to the built code of core. A simulator that does not find them proves nothing.
 * They are planted while the module is loaded, so that the code that ships knows nothing of them.
 */

export interface Bug {
  readonly about: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
}

export const bugs: Readonly<Record<string, Bug>> = {
  "validity-from-acknowledgement": {
    about: "the right to work counts from when the answer came, not from when the write was sent",
    edits: [
      {
        file: "observe.js",
        find: "term = { token: view.revision, sent: ownWrite.sent,",
        replace: "term = { token: view.revision, sent: ctx.at,",
      },
      {
        file: "observe.js",
        find: "term: { ...phase.term, sent: ownWrite.sent }",
        replace: "term: { ...phase.term, sent: ctx.at }",
      },
    ],
  },
  "release-over-another": {
    about: "a candidate that lost its term releases the lock all the same, over whatever stands there",
    edits: [
      {
        file: "step.js",
        find: 'case "lost":\n            endTerm(ctx, phase.reason, false, phase.cooldownMs);',
        replace:
          'case "lost": ctx.state.phase = { ...phase, name: "releasing", cooldownMs: 0, wasStarted: true, term: { ...phase.term, sent: ctx.at } };',
      },
      {
        file: "observe.js",
        find: "else if (!isSameLock || (!ownWrite && !onlyMetadataChanged))",
        replace: "else if (false)",
      },
    ],
  },
  "rewin-inside-term": {
    about: "a leader that sees another holder goes on and takes the lock back",
    edits: [
      {
        file: "observe.js",
        find: 'loseTerm(ctx, hasOurIdentity ? "overwritten" : "taken-over", false);',
        replace: "void hasOurIdentity;",
      },
    ],
  },
  "remote-timestamps": {
    about: "a holder's time is counted from the renewTime that it wrote, by the reader's clock",
    edits: [
      {
        file: "observe.js",
        find: "view, sinceMs: ctx.at.monoMs };",
        replace: "view, sinceMs: ctx.at.monoMs - ctx.at.wallMs + Date.parse(view.record.renewTime) };",
      },
    ],
  },
  "watch-trusted-after-gap": {
    about: "a change that is learned of after a gap in the watch does not start the wait anew",
    edits: [
      {
        file: "observe.js",
        find: "view, sinceMs: ctx.at.monoMs };",
        replace:
          "view, sinceMs: ctx.at.monoMs - before.sinceMs > ctx.config.timings.leaseDurationMs / 3 ? before.sinceMs : ctx.at.monoMs };",
      },
    ],
  },
  "stop-after-hard-deadline": {
    about: "the hard deadline lies after the end of the lease",
    edits: [
      {
        file: "timings.js",
        find: "return leaseDurationMs * (1 - clockRateTolerance) - marginMs;",
        replace: "return leaseDurationMs * 1.1;",
      },
    ],
  },
  "token-from-transitions": {
    about: "the fencing token is leaseTransitions",
    edits: [
      {
        file: "observe.js",
        find: 'ctx.effects.push({ type: "term-started", token: view.revision });',
        replace: 'ctx.effects.push({ type: "term-started", token: BigInt(leaseTransitions) });',
      },
    ],
  },
  "same-identity-continues": {
    about: "a lock with the candidate's own identity is taken for its own, as if the process had never died",
    edits: [
      {
        file: "queries.js",
        find: "const isFree = isRelease(record) || ownWriteOf(state, record) !== undefined;",
        replace: "const isFree = isRelease(record) || record.holderIdentity === config.identity;",
      },
    ],
  },
  "unchanged-record-is-no-renewal": {
    about:
      "a write that leaves the record as it was is taken for no renewal, although client-go repeats one like that",
    edits: [
      {
        file: "observe.js",
        find: 'state.lock = { kind: "present", view, sinceMs: ctx.at.monoMs };',
        replace:
          'state.lock = { kind: "present", view, sinceMs: onlyMetadataChanged ? before.sinceMs : ctx.at.monoMs };',
      },
    ],
  },
  "deletion-is-release": {
    about: "a lock that was deleted is taken at once",
    edits: [
      {
        file: "observe.js",
        find: "ctx.state.vanishedHolderUntilMs = Math.max(ctx.state.vanishedHolderUntilMs, untilMs);",
        replace: "void untilMs;",
      },
    ],
  },
  "emptied-is-released": {
    about: "a holder that was emptied by hand is taken for one that let go",
    edits: [
      {
        file: "queries.js",
        find: "const isFree = isRelease(record)",
        replace: 'const isFree = record.holderIdentity === ""',
      },
    ],
  },
  "validity-by-flag": {
    about: "a frozen leader asks a flag, not the clock, whether it may go on",
    edits: [
      {
        file: "queries.js",
        find: "return end !== undefined && at.monoMs < end.monoMs && at.wallMs < end.wallMs;",
        replace: "return end !== undefined;",
      },
    ],
  },
  "suspension-unseen": {
    about: "only the monotonic clock is asked, which stands still while the machine is suspended",
    edits: [
      {
        file: "instant.js",
        find: "return Math.max(now.monoMs - since.monoMs, now.wallMs - since.wallMs);",
        replace: "return now.monoMs - since.monoMs;",
      },
      { file: "instant.js", find: "return jumpMs > 0", replace: "return false" },
      { file: "queries.js", find: " && at.wallMs < end.wallMs;", replace: ";" },
    ],
  },
};
