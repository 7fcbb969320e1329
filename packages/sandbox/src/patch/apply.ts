/**
 * Server-side apply: the client sends the fields that it wants to own, and they are merged into the object. Fields that
 * the client owned and no longer sends are removed. Changing a field of another manager is a conflict, unless forced.
 */
import { apiVersion } from "../objects/kind.ts";
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { typeNamed } from "../objects/schema.ts";
import { ApiError } from "../objects/status.ts";
import { formatTime } from "../objects/time.ts";
import { type FieldsWrite, type Manager, ownable, readManagers, writeManagers } from "./field-managers.ts";
import { FieldSet } from "./field-set.ts";
import { compare, fieldsOf, merge, without } from "./typed-objects.ts";

/** `applied` is the object that the client sent, without defaults. `current` is undefined if the object is new. */
export function apply(
  { kind, subresource, fieldManager, force, wallMs }: FieldsWrite & { force: boolean },
  applied: ApiObject,
  current: ApiObject | undefined,
): ApiObject {
  const schema = typeNamed(kind.type);
  const { managedFields: _ignored, ...metadata } = applied.metadata;
  const sent: ApiObject = { ...applied, metadata };
  const wanted = ownable(fieldsOf(sent, schema), kind.status === true, subresource);
  const managers = readManagers(current?.metadata.managedFields);
  const version = apiVersion(kind);
  const isMe = (other: Manager) =>
    other.operation === "Apply" && other.manager === fieldManager && other.subresource === subresource;
  const me = managers.find(isMe);
  let others = managers.filter((other) => !isMe(other));

  const live = current ?? ({ apiVersion: version, kind: kind.kind, metadata: {} } as ApiObject);
  let merged = merge(live, sent, schema) as ApiObject;
  const { changed } = compare(live, merged, schema);
  const contested = others.map((other) => ({
    other,
    fields: other.fields.intersection(changed).intersection(wanted),
  }));
  const conflicts = contested.filter(({ fields }) => !fields.isEmpty);
  if (conflicts.length > 0) {
    if (!force) throw conflictError(conflicts);
    others = contested.map(({ other, fields }) => ({ ...other, fields: other.fields.difference(fields) }));
  }

  const ownedByOthers = others.reduce((all, other) => all.union(other.fields), new FieldSet());
  const dropped = (me?.fields ?? new FieldSet()).difference(wanted).difference(ownedByOthers);
  merged = without(merged, dropped, wanted.union(ownedByOthers), schema) as ApiObject;
  const same = me?.fields.equals(wanted) === true;
  const entry: Manager = {
    manager: fieldManager,
    operation: "Apply",
    apiVersion: version,
    subresource,
    time: same ? (me as Manager).time : formatTime(wallMs),
    fields: wanted,
  };
  return withMetadata(merged, { managedFields: writeManagers([...others, entry]) });
}

function conflictError(conflicts: { other: Manager; fields: FieldSet }[]): ApiError {
  const groups = conflicts.map(({ other, fields }) => ({
    who: describeManager(other),
    paths: fields.paths(),
  }));
  const causes = groups.flatMap(({ who, paths }) =>
    paths.map((path) => ({ reason: "FieldManagerConflict", message: `conflict with ${who}`, field: path })),
  );
  const text =
    causes.length === 1
      ? `Apply failed with 1 conflict: ${causes[0]?.message}: ${causes[0]?.field}`
      : `Apply failed with ${causes.length} conflicts: ${groups
          .map(({ who, paths }) => `conflicts with ${who}:\n- ${paths.join("\n- ")}`)
          .join("\n")}`;
  return new ApiError(409, "Conflict", text, { causes });
}

function describeManager({ manager, apiVersion: version, operation, subresource }: Manager): string {
  const name = `"${manager}"${subresource ? ` with subresource "${subresource}"` : ""}`;
  return operation === "Update" ? `${name} using ${version}` : name;
}
