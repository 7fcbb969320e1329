/** Who owns which field of an object: metadata.managedFields, read and written. */
import type { Kind } from "../objects/kind.ts";
import type { ManagedFieldsEntry } from "../objects/object.ts";
import { FieldSet } from "./field-set.ts";

/** A write, as far as field ownership depends on it. */
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
      fields: FieldSet.parse(entry.fieldsV1),
    }));
}

/** In the order of Kubernetes: those who applied first, then by time. */
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
      fieldsV1: fields.toJson(),
      ...(subresource ? { subresource } : {}),
    }));
}

/** Nobody owns these: they are the server's, or say which object it is. */
const nobodysFields = FieldSet.parse({
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

/** Leaves out what nobody owns, and what this path does not write. */
export function ownable(fields: FieldSet, separateStatus: boolean, subresource: string): FieldSet {
  const metadata = fields.difference(nobodysFields);
  metadata.member = false;
  const own = metadata.children.get("f:metadata");
  for (const element of nobodysFields.children.get("f:metadata")?.children.keys() ?? [])
    own?.children.delete(element);
  if (own?.isEmpty) metadata.children.delete("f:metadata");
  if (!separateStatus) return metadata;
  if (subresource === "status") {
    const status = new FieldSet();
    const below = metadata.children.get("f:status");
    if (below) status.children.set("f:status", below);
    return status;
  }
  return metadata.difference(statusFields, true);
}
