/** Content negotiation: chooses JSON or YAML, and objects, a table or only metadata, from the Accept header. */
import { ApiError, onlyTheseTypes, supportedTypes } from "../objects/status.ts";
import type { ResponseForm } from "../registry/context.ts";

const streamTypes = "application/json;stream=watch";

/** `tables` says whether the resource can be shown as a table. */
export function negotiate(accept: string | undefined, tables: boolean): ResponseForm {
  if (!accept?.trim()) return { format: "json", as: "object" };
  let known = false;
  for (const option of accept.split(",")) {
    const [type = "", ...parameters] = option.split(";").map((part) => part.trim());
    const values = Object.fromEntries(
      parameters.map((parameter) => parameter.split("=", 2) as [string, string]),
    );
    const format =
      type === "application/yaml"
        ? "yaml"
        : ["application/json", "*/*", "application/*"].includes(type)
          ? "json"
          : undefined;
    if (format === undefined) continue;
    known = true;
    if (values.as === undefined) return { format, as: "object" };
    if (values.g !== "meta.k8s.io" || values.v !== "v1") continue;
    if (
      (values.as === "Table" && tables) ||
      values.as === "PartialObjectMetadata" ||
      values.as === "PartialObjectMetadataList"
    ) {
      return { format, as: values.as };
    }
  }
  if (!known) {
    throw new ApiError(
      406,
      "NotAcceptable",
      `406: Not Acceptable\n\nAvailable representations: ${supportedTypes}, ${streamTypes}`,
      {},
    );
  }
  throw onlyTheseTypes();
}
