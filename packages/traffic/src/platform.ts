/** The only file of this package that asks the machine for anything: it warns through it. */
export { systemClock } from "@tenure/base";

/** For what nobody listens to. */
export function warn(error: Error): void {
  process.emitWarning(error.message, { type: error.name });
}
