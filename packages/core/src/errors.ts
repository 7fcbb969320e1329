/** The one error class of this package: what the caller asked for cannot be done as it stands. */
export class CoreError extends Error {
  override readonly name = "CoreError";
  readonly code: "InvalidTimings" | "InvalidIdentity";
  /** Every problem that was found, one sentence each, so that one start-up shows them all. */
  readonly problems: readonly string[];

  constructor(code: CoreError["code"], problems: readonly string[]) {
    super(`Cannot start the election: ${problems.join("; ")}.`);
    this.code = code;
    this.problems = problems;
  }
}
