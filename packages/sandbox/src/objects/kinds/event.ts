/**
 * Event in its two API groups, v1 and events.k8s.io/v1. Both share one storage. It keeps the form of v1; the other
 * group renames fields.
 */
import { type Column, type Kind, section } from "../kind.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject, JsonObject } from "../object.ts";
import { type FieldError, field } from "../status.ts";

const involved = (object: ApiObject) => section(object, "involvedObject");
const source = (object: ApiObject) => section(object, "source");
const series = (object: ApiObject) => section(object, "series");
const firstSeen = (object: ApiObject) => object.firstTimestamp ?? object.eventTime;
const text = (value: unknown) => String(value ?? "");

const columns: Column[] = [
  {
    name: "Last Seen",
    cell: (object, age) => age(series(object).lastObservedTime ?? object.lastTimestamp ?? firstSeen(object)),
  },
  { name: "Type", cell: (object) => text(object.type) },
  { name: "Reason", cell: (object) => text(object.reason) },
  {
    name: "Object",
    cell: (object) =>
      [text(involved(object).kind).toLowerCase(), involved(object).name].filter(Boolean).join("/"),
  },
  { name: "Subobject", priority: 1, cell: (object) => text(involved(object).fieldPath) },
  {
    name: "Source",
    priority: 1,
    cell: (object) =>
      [source(object).component ?? object.reportingComponent, source(object).host ?? object.reportingInstance]
        .filter(Boolean)
        .join(", "),
  },
  { name: "Message", cell: (object) => text(object.message).trim() },
  { name: "First Seen", priority: 1, cell: (object, age) => age(firstSeen(object)) },
  { name: "Count", priority: 1, cell: (object) => text(series(object).count ?? (object.count || 1)) },
  { name: "Name", priority: 1, format: "name", cell: (object) => object.metadata.name },
];

function validate(object: ApiObject): FieldError[] {
  const namespace = text(involved(object).namespace) || "default";
  if (namespace === object.metadata.namespace) return [];
  return [
    field.invalid(
      "involvedObject.namespace",
      text(involved(object).namespace),
      "does not match event.namespace",
    ),
  ];
}

const referenceFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

export const event: Kind = {
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  singular: "event",
  shortNames: ["ev"],
  namespaced: true,
  type: "api.core.v1.Event",
  storage: "events",
  name: isDnsSubdomain,
  createOnUpdate: true,
  columns,
  selectable: {
    ...Object.fromEntries(
      referenceFields.map((name) => [
        `involvedObject.${name}`,
        (object: ApiObject) => text(involved(object)[name]),
      ]),
    ),
    reason: (object) => text(object.reason),
    reportingComponent: (object) => text(object.reportingComponent),
    source: (object) => text(source(object).component ?? object.reportingComponent),
    type: (object) => text(object.type),
  },
  validate,
};

/** Maps fields of events.k8s.io/v1 to fields of v1. */
const olderNames: Record<string, string> = {
  note: "message",
  regarding: "involvedObject",
  reportingController: "reportingComponent",
  deprecatedSource: "source",
  deprecatedFirstTimestamp: "firstTimestamp",
  deprecatedLastTimestamp: "lastTimestamp",
  deprecatedCount: "count",
};
const newerNames = Object.fromEntries(Object.entries(olderNames).map(([newer, older]) => [older, newer]));

function rename(object: ApiObject, names: Record<string, string>, apiVersion: string): ApiObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(object)) out[names[key] ?? key] = value;
  return { ...out, apiVersion } as ApiObject;
}

export const eventsEvent: Kind = {
  ...event,
  group: "events.k8s.io",
  type: "api.events.v1.Event",
  selectable: {
    ...Object.fromEntries(
      referenceFields.map((name) => [
        `regarding.${name}`,
        (object: ApiObject) => text(involved(object)[name]),
      ]),
    ),
    reason: (object) => text(object.reason),
    reportingController: (object) => text(object.reportingComponent),
    type: (object) => text(object.type),
  },
  convert: {
    fromStored: (object) => rename(object, newerNames, "events.k8s.io/v1"),
    toStored: (object) =>
      rename({ reportingComponent: "", reportingInstance: "", ...object } as ApiObject, olderNames, "v1"),
  },
};
