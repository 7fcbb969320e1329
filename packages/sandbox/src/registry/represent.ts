/** Converts stored objects to the form that the client asked for: objects, a table for kubectl, or only metadata. */
import { jsonText } from "../objects/json-text.ts";
import { apiVersion, type Column, type Kind } from "../objects/kind.ts";
import type { ApiObject } from "../objects/object.ts";
import { quote } from "../objects/quote.ts";
import { badRequest } from "../objects/status.ts";
import type { Stored } from "../store/types.ts";
import { printAge } from "./age.ts";
import type { ApiResponse, KindContext } from "./context.ts";

interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export function represent(context: KindContext, stored: Stored, code: number): ApiResponse {
  const { kind, responseForm } = context;
  if (responseForm.as === "object") {
    if (kind.convert) return { type: "object", code, value: kind.convert.fromStored(stored.value) };
    return { type: "json", code, json: stored.json };
  }
  return { type: "object", code, value: representOne(context, stored) };
}

/** One object in the form that the client asked for. */
export function representOne(context: KindContext, { value }: Stored, withColumns = true): unknown {
  const { kind, responseForm } = context;
  if (responseForm.as === "Table") {
    const meta = { resourceVersion: value.metadata.resourceVersion as string };
    return table(context, [value], meta, withColumns);
  }
  if (responseForm.as === "object") return kind.convert ? kind.convert.fromStored(value) : value;
  return metadataOnly(value);
}

export function representList(context: KindContext, items: Stored[], meta: ListMeta): ApiResponse {
  const { kind, responseForm } = context;
  if (responseForm.as === "Table") {
    return {
      type: "object",
      code: 200,
      value: table(
        context,
        items.map(({ value }) => value),
        meta,
        true,
      ),
    };
  }
  if (responseForm.as !== "object") {
    const list = { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: meta };
    return {
      type: "object",
      code: 200,
      value: { ...list, items: items.map(({ value }) => metadataOnly(value)) },
    };
  }
  const bodies = items.map((item) => itemJson(kind, item)).join(",");
  const head = JSON.stringify({ kind: `${kind.kind}List`, apiVersion: apiVersion(kind), metadata: meta });
  return { type: "json", code: 200, json: `${head.slice(0, -1)},"items":[${bodies}]}` };
}

/** Items of a list omit kind and apiVersion. Stored JSON always begins with these two fields. */
function itemJson(kind: Kind, item: Stored): string {
  if (kind.convert) {
    const { kind: _kind, apiVersion: _version, ...rest } = kind.convert.fromStored(item.value);
    return jsonText(rest);
  }
  const start = `{"kind":${JSON.stringify(item.value.kind)},"apiVersion":${JSON.stringify(item.value.apiVersion)},`;
  return `{${item.json.slice(start.length)}`;
}

function metadataOnly({ metadata }: ApiObject) {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
}

function table(
  { kind, request, cluster }: KindContext,
  objects: ApiObject[],
  metadata: ListMeta,
  withColumns: boolean,
) {
  const include = request.query.get("includeObject") ?? "Metadata";
  if (!["", "Metadata", "None", "Object"].includes(include)) {
    const why = "must be 'Metadata', 'Object', 'None', or empty";
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Invalid value: ${quote(include)}: ${why}`,
    );
  }
  const now = cluster.platform.clock.now().wallMs;
  const age = (time: unknown) => (typeof time === "string" ? printAge(now - Date.parse(time)) : "<unknown>");
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: withColumns ? kind.columns.map(columnDefinition) : null,
    rows: objects.map((object) => ({
      cells: kind.columns.map((column) => column.cell(object, age) ?? ""),
      object:
        include === "None"
          ? null
          : include === "Object"
            ? (kind.convert?.fromStored(object) ?? object)
            : metadataOnly(object),
    })),
  };
}

function columnDefinition({ name, type = "string", format = "", priority = 0, description = "" }: Column) {
  return { name, type, format, description, priority };
}
