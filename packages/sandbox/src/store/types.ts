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

/** Stores a commit permanently, before it takes effect. */
export interface Journal {
  write(entry: { revision: number; key: string; json: string | undefined }): Promise<void>;
  close(): Promise<void>;
}

export interface StoreContent {
  revision: number;
  entries: { key: string; json: string }[];
}
