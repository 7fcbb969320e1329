/** Types shared by the files of the store and by its users. */
import type { ApiObject } from "../objects/object.ts";

export interface Stored {
  readonly key: string;
  readonly revision: number;
  readonly value: ApiObject;
  /** The value as JSON. It is serialized once and sent to every reader and watcher. */
  readonly json: string;
}

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  /** The new state. For a DELETED event: the last state, with the revision of the deletion. */
  readonly object: Stored;
  readonly previous: Stored | undefined;
}

/** The decision of a commit: a new value, "delete", or undefined to leave the object unchanged. */
export type Decision = ApiObject | "delete" | undefined;

export type Decide = (current: Stored | undefined) => Decision;

export interface PageOptions {
  /** Shows the objects as they were at this revision. @default the current revision */
  revision?: number;
  /** Starts behind this key. @default the first key */
  after?: string;
  /** The number of items. @default all */
  limit?: number;
  /** Selects objects. @default all */
  matches?(object: ApiObject): boolean;
}

export interface Page {
  items: Stored[];
  /** How many objects follow the last item, including those that `matches` would skip. */
  remaining: number;
}
