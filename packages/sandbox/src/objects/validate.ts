/** Validates an object before it is written. It reports all problems at once. */
import type { Kind } from "./kind.ts";
import { isPathSegment } from "./name-rules.ts";
import type { ApiObject } from "./object.ts";
import { invalid } from "./status.ts";
import { validateMetadata, validateMetadataUpdate } from "./validate-metadata.ts";

/** `old` is undefined on create. */
export function validate(kind: Kind, object: ApiObject, old: ApiObject | undefined): void {
  // An update does not validate the name again: it was valid when the object was created, perhaps under other rules.
  const rules = { namespaced: kind.namespaced, name: old ? isPathSegment : kind.name };
  const errors = [
    ...validateMetadata(object.metadata, rules),
    ...(old ? validateMetadataUpdate(object.metadata, old.metadata) : []),
    ...(kind.validate?.(object, old) ?? []),
  ];
  if (errors.length > 0) throw invalid({ ...kind, name: object.metadata.name ?? "" }, errors);
}
