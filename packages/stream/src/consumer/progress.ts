/**
 * How far the work has come. Messages may finish in any order; the cursor moves only over those that have none unfinished
 * before them, so that resuming from it never leaves one out.
 * Does not promise that none is processed twice: those behind the first unfinished one are delivered again after a crash.
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

  /** Of the last message that is finished together with all before it. */
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
