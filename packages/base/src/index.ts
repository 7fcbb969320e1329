/** @tenure/base: what every other package stands on. It depends on nothing but Node. */
export { Backoff, type BackoffPolicy, backoffMs } from "./backoff.ts";
export type { Clock, Instant } from "./clock.ts";
export { formatDuration, parseDuration } from "./duration.ts";
export { Emitter } from "./emitter.ts";
export { asError, isAbortOf, messageOf, sentence } from "./errors.ts";
export { onAbort } from "./on-abort.ts";
export {
  backgroundClock,
  nextTurn,
  processSignals,
  systemClock,
  systemRandom,
  warn,
  writeWithoutBlocking,
} from "./platform.ts";
export {
  type Checked,
  checked,
  describeProblem,
  describeProblems,
  durationProblem,
  expectValid,
  nearest,
  notPositiveProblem,
  oneOfProblem,
  type Problem,
  quote,
  readDuration,
  readWholeNumber,
  unknownOptions,
  wholeNumberProblem,
} from "./problems.ts";
export { type Shutdown, type SignalSource, sameRequestMs, shutdownOn } from "./shutdown.ts";
export { after, first, sleep, type Waits, within } from "./wait.ts";
