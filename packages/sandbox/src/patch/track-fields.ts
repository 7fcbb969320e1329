/**
 * Updates metadata.managedFields after a create, an update or a patch other than apply: the manager that changes a
 * field becomes its only owner. Server-side apply needs this to detect conflicts.
 */
import { decode } from "../objects/decode.ts";
import { apiVersion } from "../objects/kind.ts";
import { type ApiObject, equal, type ManagedFieldsEntry, withMetadata } from "../objects/object.ts";
import { typeNamed } from "../objects/schema.ts";
import { formatTime } from "../objects/time.ts";
import { type FieldsWrite, type Manager, ownable, readManagers, writeManagers } from "./field-managers.ts";
import { FieldSet } from "./field-set.ts";
import { compare } from "./typed-objects.ts";

/** `subresource` decides which fields the write can own. `recordedSubresource` is recorded with the owner. */
export function trackFields(
  {
    kind,
    subresource,
    fieldManager,
    recordedSubresource,
    wallMs,
  }: FieldsWrite & { recordedSubresource: string },
  object: ApiObject,
  old: ApiObject | undefined,
): ApiObject {
  const given = object.metadata.managedFields;
  // A client removes all owners by sending a list with one empty entry.
  if (given?.length === 1 && Object.keys(given[0] as object).length === 0)
    return withEntries(object, undefined);
  const schema = typeNamed(kind.type);
  const before = old ?? (decode(kind.type, {}).value as ApiObject);
  const { changed, removed } = compare(withoutOwners(before), withoutOwners(object), schema);
  const mine = ownable(changed, kind.status === true, subresource);
  const gone = ownable(removed, kind.status === true, subresource);
  // A client sends back the owners that it read. The stored ones are the same, and their sets are already parsed.
  const stored = old?.metadata.managedFields;
  const managers = readManagers(given?.length && !equal(given, stored) ? given : stored);
  if (mine.isEmpty && gone.isEmpty) return withEntries(object, writeManagers(managers));

  const version = apiVersion(kind);
  const isMe = (other: Manager) =>
    other.operation === "Update" &&
    other.manager === fieldManager &&
    other.apiVersion === version &&
    other.subresource === recordedSubresource;
  const others = managers
    .filter((other) => !isMe(other))
    .map((other) => ({ ...other, fields: without(other.fields, mine, gone) }));
  const present = managers.find(isMe);
  const me: Manager = {
    manager: fieldManager,
    operation: "Update",
    apiVersion: version,
    subresource: recordedSubresource,
    time: formatTime(wallMs),
    fields: owned(present?.fields ?? new FieldSet(), mine, gone),
  };
  return withEntries(object, writeManagers([...others, me]));
}

/** Objects without the list of owners, which has no owner itself. */
function withoutOwners(object: ApiObject): ApiObject {
  if (!object.metadata) return object;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** These keep the set itself if nothing changes, because it need not be printed again. */
function without(fields: FieldSet, mine: FieldSet, gone: FieldSet): FieldSet {
  if (!fields.overlaps(mine) && !fields.overlaps(gone)) return fields;
  return fields.difference(mine).difference(gone);
}

function owned(fields: FieldSet, mine: FieldSet, gone: FieldSet): FieldSet {
  if (!fields.overlaps(gone) && mine.difference(fields).isEmpty) return fields;
  return fields.union(mine).difference(gone);
}

function withEntries(object: ApiObject, entries: ManagedFieldsEntry[] | undefined): ApiObject {
  return withMetadata(object, { managedFields: entries?.length ? entries : undefined } as never);
}
