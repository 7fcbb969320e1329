/**
 * Validates an object before it is written: its metadata, by rules for every kind, and then by the rules of its kind.
 */
import type { Kind } from "./kind.ts";
import { isDnsLabel, isLabelValue, isPathSegment, isQualifiedName, type NameRule } from "./name-rules.ts";
import { type ApiObject, equal, type ObjectMeta } from "./object.ts";
import { quote } from "./quote.ts";
import { type FieldError, field, invalid } from "./status.ts";

const maxAnnotationBytes = 256 * 1024;

/** Reports all problems at once. `old` is undefined on create. */
export function validate(kind: Kind, object: ApiObject, old: ApiObject | undefined): void {
  // An update does not validate the name again: it was valid when the object was created, perhaps under other rules.
  const rules = { namespaced: kind.namespaced, name: old ? isPathSegment : kind.name };
  const errors = [
    ...validateMetadata(object.metadata, rules),
    ...(groupsWithAnyFinalizer.includes(kind.group) ? [] : validateFinalizers(object.metadata)),
    ...(old ? validateMetadataUpdate(object.metadata, old.metadata) : []),
    ...(kind.validate?.(object, old) ?? []),
  ];
  if (errors.length > 0) throw invalid({ ...kind, name: object.metadata.name ?? "" }, errors);
}

/** These groups of the API accept finalizers without a domain. */
const groupsWithAnyFinalizer = ["admissionregistration.k8s.io", "coordination.k8s.io"];
const standardFinalizers = ["kubernetes", "orphan", "foregroundDeletion"];

function validateFinalizers({ finalizers = [] }: ObjectMeta): FieldError[] {
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return finalizers.flatMap((name, index) =>
    name.includes("/") || standardFinalizers.includes(name)
      ? []
      : [field.invalid(`metadata.finalizers[${index}]`, name, why)],
  );
}

function validateMetadata(meta: ObjectMeta, kind: { namespaced: boolean; name: NameRule }): FieldError[] {
  const specific = validateName(meta, kind.name);
  const errors = specific.length > 0 ? specific : validateName(meta, isPathSegment);
  if (!kind.namespaced) {
    if (meta.namespace) errors.push(field.forbidden("metadata.namespace", "not allowed on this type"));
  } else if (!meta.namespace) {
    errors.push(field.required("metadata.namespace"));
  } else {
    const namespace = meta.namespace;
    errors.push(...isDnsLabel(namespace).map((why) => field.invalid("metadata.namespace", namespace, why)));
  }
  return [...errors, ...validateCommon(meta)];
}

function validateName(meta: ObjectMeta, rule: NameRule): FieldError[] {
  const errors: FieldError[] = [];
  const { generateName, name } = meta;
  if (generateName) {
    errors.push(
      ...rule(generateName, true).map((why) => field.invalid("metadata.generateName", generateName, why)),
    );
  }
  if (!name) errors.push(field.required("metadata.name", "name or generateName is required"));
  else errors.push(...rule(name, false).map((why) => field.invalid("metadata.name", name, why)));
  return errors;
}

function validateCommon(meta: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(meta.labels ?? {})) {
    errors.push(...isQualifiedName(key).map((why) => field.invalid("metadata.labels", key, why)));
    errors.push(...isLabelValue(value).map((why) => field.invalid("metadata.labels", value, why)));
  }
  let annotationBytes = 0;
  for (const [key, value] of Object.entries(meta.annotations ?? {})) {
    annotationBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
    const problems = isQualifiedName(key.toLowerCase());
    errors.push(...problems.map((why) => field.invalid("metadata.annotations", key, why)));
  }
  if (annotationBytes > maxAnnotationBytes)
    errors.push(field.tooLong("metadata.annotations", maxAnnotationBytes));
  errors.push(...validateOwners(meta));
  for (const finalizer of meta.finalizers ?? []) {
    errors.push(
      ...isQualifiedName(finalizer).map((why) => field.invalid("metadata.finalizers", finalizer, why)),
    );
  }
  if (meta.finalizers?.includes("orphan") && meta.finalizers.includes("foregroundDeletion")) {
    const why = "finalizer orphan and foregroundDeletion cannot be both set";
    errors.push(field.invalid("metadata.finalizers", meta.finalizers, why));
  }
  return errors;
}

function validateOwners(meta: ObjectMeta): FieldError[] {
  const path = "metadata.ownerReferences";
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of meta.ownerReferences ?? []) {
    if (!owner.apiVersion)
      errors.push(field.invalid(`${path}.apiVersion`, owner.apiVersion, "version must not be empty"));
    if (!owner.kind) errors.push(field.invalid(`${path}.kind`, owner.kind, "must not be empty"));
    if (!owner.name) errors.push(field.invalid(`${path}.name`, owner.name, "must not be empty"));
    if (!owner.uid) errors.push(field.invalid(`${path}.uid`, owner.uid, "must not be empty"));
    if (!owner.controller) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller) {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(field.invalid(path, meta.ownerReferences, why));
    }
    controller = name;
  }
  return errors;
}

const immutableFields = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

function validateMetadataUpdate(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) {
    const added = (meta.finalizers ?? []).filter((finalizer) => !old.finalizers?.includes(finalizer)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map((name) => quote(name)).join(", ")}}`;
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(field.forbidden("metadata.finalizers", why));
    }
  }
  for (const name of immutableFields) {
    if (!equal(meta[name], old[name])) errors.push(immutable(`metadata.${name}`, meta[name]));
  }
  return errors;
}

export const immutable = (path: string, value: unknown) => field.invalid(path, value, "field is immutable");
