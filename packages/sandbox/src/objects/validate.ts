/**
 * Fourth step of a write: is the object a valid one? Every problem is reported at once, in the API's own words.
 */
import type { Kind } from "./kind.ts";
import { isPathSegment } from "./name-rules.ts";
import type { ApiObject } from "./object.ts";
import { invalid } from "./status.ts";
import { validateMetadata, validateMetadataUpdate } from "./validate-metadata.ts";

/** `old` is absent on create. */
export function validate(kind: Kind, object: ApiObject, old: ApiObject | undefined): void {
  // A name that is there was valid once, perhaps under other rules: an update does not judge it again.
  const rules = { namespaced: kind.namespaced, name: old ? isPathSegment : kind.name };
  const errors = [
    ...validateMetadata(object.metadata, rules),
    ...(old ? validateMetadataUpdate(object.metadata, old.metadata) : []),
    ...(kind.validate?.(object, old) ?? []),
  ];
  if (errors.length > 0) throw invalid({ ...kind, name: object.metadata.name ?? "" }, errors);
}
