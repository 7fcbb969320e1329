import type { LeaderRecord } from "@tenure/core";

/** The API path of a kind of object, and how to read and write the record in it. */
export interface ObjectKind {
  readonly kind: string;
  readonly apiVersion: string;
  /** `/api/v1` or `/apis/GROUP/VERSION`. */
  readonly root: string;
  readonly plural: string;
  read(object: KubeObject): LeaderRecord;
  /** The candidate that the API server wants to lead. @default none */
  preferredHolder?(object: KubeObject): string | undefined;
  /** A copy of the object with this record; everything else is unchanged. */
  write(object: KubeObject, record: LeaderRecord): KubeObject;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: unknown;
  };
  readonly [field: string]: unknown;
}
