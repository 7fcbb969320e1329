/** Reads and writes metadata.managedFields, which says who owns which field of an object. */
import type { Kind } from "../objects/kind.ts";
import type { ManagedFieldsEntry } from "../objects/object.ts";
import { FieldSet } from "./field-set.ts";

/** The properties of a write that decide about field ownership. */
export interface FieldsWrite {
  kind: Kind;
  /** The subresource in the path; empty for the object itself. */
  subresource: string;
  fieldManager: string;
  wallMs: number;
}

export interface Manager {
  manager: string;
  operation: "Apply" | "Update";
  apiVersion: string;
  subresource: string;
  time: string;
  fields: FieldSet;
}

export function readManagers(entries: ManagedFieldsEntry[] | undefined): Manager[] {
  return (entries ?? [])
    .filter((entry) => entry.operation !== undefined)
    .map((entry) => ({
      manager: entry.manager ?? "",
      operation: entry.operation as "Apply" | "Update",
      apiVersion: entry.apiVersion ?? "",
      subresource: entry.subresource ?? "",
      time: entry.time ?? "",
      fields: FieldSet.of(entry.fieldsV1),
    }));
}

/** Entries are in the order of Kubernetes: Apply before Update, then by time. */
export function writeManagers(managers: Manager[]): ManagedFieldsEntry[] {
  const rank = ({ operation, time, manager, apiVersion, subresource }: Manager) =>
    [operation, time, manager, apiVersion, subresource].join("\u0000");
  return managers
    .filter(({ fields }) => !fields.isEmpty)
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: "FieldsV1",
      fieldsV1: fields.printed(),
      ...(subresource ? { subresource } : {}),
    }));
}

/** Fields without an owner: the server sets them, or they identify the object. */
const unownedFields = FieldSet.parse({
  "f:apiVersion": {},
  "f:kind": {},
  "f:metadata": {
    ".": {},
    "f:name": {},
    "f:namespace": {},
    "f:creationTimestamp": {},
    "f:deletionTimestamp": {},
    "f:deletionGracePeriodSeconds": {},
    "f:selfLink": {},
    "f:uid": {},
    "f:generation": {},
    "f:managedFields": {},
    "f:resourceVersion": {},
  },
});
const statusFields = FieldSet.parse({ "f:status": {} });

/** Removes the fields that have no owner, and the fields that a write to this subresource does not change. */
export function ownable(fields: FieldSet, separateStatus: boolean, subresource: string): FieldSet {
  const metadata = fields.difference(unownedFields);
  metadata.member = false;
  const own = metadata.children.get("f:metadata");
  for (const element of unownedFields.children.get("f:metadata")?.children.keys() ?? [])
    own?.children.delete(element);
  if (own?.isEmpty) metadata.children.delete("f:metadata");
  if (!separateStatus) return metadata;
  if (subresource !== "") {
    // A write to a subresource changes the status, and metadata that the kind does not protect.
    const written = new FieldSet();
    for (const element of ["f:metadata", "f:status"]) {
      const below = metadata.children.get(element);
      if (below) written.children.set(element, below);
    }
    return written;
  }
  return metadata.difference(statusFields, true);
}
