/** What a simulated client of a store needs, and how a lock looks in a store: its record, and its annotations. */
import type { Clock } from "@tenure/base";
import type { LeaderRecord } from "@tenure/core";
import type { Link } from "../link.ts";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Annotations, StoredLock } from "../server.ts";

export interface ClientParts {
  readonly link: Link;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly clock: Clock;
  readonly defer: (callback: () => void) => void;
  /** The id of the process. */
  readonly writer: string;
}

/** Tells in which timeline a writer read the lock. A lock keeps what it does not know, so it comes back with the write. */
const timelineAnnotation = "sim/timeline";

/** The annotations as the store shows them. */
export function shownAnnotations({ object, timeline }: StoredLock): Annotations {
  return { ...object.annotations, [timelineAnnotation]: String(timeline) };
}

/** The record as the store shows it. */
export function shownRecord({ record, isUnreadable }: StoredLock): unknown {
  return isUnreadable ? { holderIdentity: 1 } : record;
}

/** What a candidate sends: the record, and everything else as it sends it. */
export function parseSent(record: string, sent: Annotations) {
  const { [timelineAnnotation]: timeline, ...annotations } = sent;
  return {
    record: JSON.parse(record) as LeaderRecord,
    annotations: annotations as Annotations,
    timeline: timeline === undefined ? undefined : Number(timeline),
  };
}
