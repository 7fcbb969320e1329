/**
 * How far the work has progressed. Messages may finish in any order. The cursor moves past a message only when all messages
 * before it are finished too, so that resuming from the cursor never skips one. It does not prevent that a message is processed
 * twice: after a crash, the messages behind the first unfinished one are delivered again.
 */
export interface Step<Cursor> {
  readonly cursor: Cursor | undefined;
  isFinished: boolean;
}

export class Progress<Cursor> {
  readonly #steps: Step<Cursor>[] = [];
  #cursor: Cursor | undefined;

  constructor(cursor: Cursor | undefined) {
    this.#cursor = cursor;
  }

  /** The cursor of the last message that is finished together with all messages before it. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  begin(cursor: Cursor | undefined): Step<Cursor> {
    const step = { cursor, isFinished: false };
    this.#steps.push(step);
    return step;
  }

  finish(step: Step<Cursor>): void {
    step.isFinished = true;
    while (this.#steps[0]?.isFinished) this.#cursor = this.#steps.shift()?.cursor;
  }
}
