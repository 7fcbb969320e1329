/** successPolicy: an indexed Job can succeed before all of its indexes have. */
import type { Job } from "../../client/workloads.ts";
import { parseIndexes } from "./indexes.ts";

/** Says which rule is met. Undefined if none is. */
export function metSuccessRule({ spec }: Job, succeeded: ReadonlySet<number>): string | undefined {
  if (succeeded.size === 0) return undefined;
  const met = (spec.successPolicy?.rules ?? []).findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined)
      return succeededCount !== undefined && succeeded.size >= succeededCount;
    const required = parseIndexes(succeededIndexes);
    const reached = [...required].filter((index) => succeeded.has(index)).length;
    return required.size > 0 && reached >= (succeededCount ?? required.size);
  });
  return met < 0 ? undefined : `Matched rules at index ${met}`;
}
