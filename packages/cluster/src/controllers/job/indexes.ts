/** Indexes of a Job with the completion mode Indexed. */
import type { Pod } from "../../client/objects.ts";
import type { Job } from "../../client/workloads.ts";

export const indexKey = "batch.kubernetes.io/job-completion-index";

export const isIndexed = ({ spec }: Job) => spec.completionMode === "Indexed";

export function indexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[indexKey] ?? metadata.labels?.[indexKey];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** "1,3-5" as a set. */
export function parseIndexes(text = ""): Set<number> {
  const indexes = new Set<number>();
  for (const range of text.split(",").filter((part) => part !== "")) {
    const [first = 0, last = first] = range.split("-").map(Number);
    for (let index = first; index <= last; index++) indexes.add(index);
  }
  return indexes;
}

/** A set as "1,3-5": ranges of at least three, as Kubernetes writes them, and pairs as "1,2". */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const index of sorted) {
    const range = ranges.at(-1);
    if (range && range[1] === index - 1) range[1] = index;
    else ranges.push([index, index]);
  }
  return ranges
    .map(([first, last]) =>
      first === last ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`,
    )
    .join(",");
}

/** The lowest indexes that neither succeeded nor have a pod. */
export function freeIndexes(
  { spec }: Job,
  completed: ReadonlySet<number>,
  active: readonly Pod[],
  count: number,
): number[] {
  const taken = new Set(active.map(indexOf));
  const free: number[] = [];
  for (let index = 0; index < (spec.completions ?? 0) && free.length < count; index++) {
    if (!completed.has(index) && !taken.has(index)) free.push(index);
  }
  return free;
}
