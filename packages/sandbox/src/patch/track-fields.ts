/**
 * Updates metadata.managedFields after a create, an update or a patch other than apply: the manager that changes a
 * field becomes its only owner. Server-side apply needs this to detect conflicts.
 */
import { decode } from "../objects/decode.ts";
import { apiVersion } from "../objects/kind.ts";
import { type ApiObject, type ManagedFieldsEntry, withMetadata } from "../objects/object.ts";
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
  const { changed, removed } = compare(before, object, schema);
  const mine = ownable(changed, kind.status === true, subresource);
  const gone = ownable(removed, kind.status === true, subresource);
  const managers = readManagers(given?.length ? given : old?.metadata.managedFields);
  if (mine.isEmpty && gone.isEmpty) return withEntries(object, writeManagers(managers));

  const version = apiVersion(kind);
  const isMe = (other: Manager) =>
    other.operation === "Update" &&
    other.manager === fieldManager &&
    other.apiVersion === version &&
    other.subresource === recordedSubresource;
  const others = managers
    .filter((other) => !isMe(other))
    .map((other) => ({ ...other, fields: other.fields.difference(mine).difference(gone) }));
  const present = managers.find(isMe);
  const me: Manager = {
    manager: fieldManager,
    operation: "Update",
    apiVersion: version,
    subresource: recordedSubresource,
    time: formatTime(wallMs),
    fields: owned(present?.fields, mine, gone),
  };
  return withEntries(object, writeManagers([...others, me]));
}

/** The fields of a manager after a write. Most writes only change values of fields that their manager owns already. */
function owned(before: FieldSet | undefined, mine: FieldSet, gone: FieldSet): FieldSet {
  if (gone.isEmpty && before?.contains(mine)) return before;
  return (before ?? new FieldSet()).union(mine).difference(gone);
}

function withEntries(object: ApiObject, entries: ManagedFieldsEntry[] | undefined): ApiObject {
  return withMetadata(object, { managedFields: entries?.length ? entries : undefined });
}
