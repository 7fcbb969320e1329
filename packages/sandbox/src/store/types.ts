/** The types that the store shares with its parts and its users. */
import type { ApiObject } from "../objects/object.ts";

export interface Stored {
  readonly key: string;
  readonly revision: number;
  readonly value: ApiObject;
  /** The value as JSON: written once, sent to every reader and watcher. */
  readonly json: string;
}

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: number;
  /** What is there now; of a DELETED event the last state, with the revision of the deletion. */
  readonly object: Stored;
  readonly previous: Stored | undefined;
}

/** What a commit decides on seeing the present state: a new value, "delete", or undefined to leave it. */
export type Decision = ApiObject | "delete" | undefined;

/** Where commits go before they count. */
export interface Journal {
  write(entry: { revision: number; key: string; json: string | undefined }): Promise<void>;
  close(): Promise<void>;
}

export interface StoreContent {
  revision: number;
  entries: { key: string; json: string }[];
}
