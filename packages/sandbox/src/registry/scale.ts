/** The scale subresource: reads and writes only the number of replicas. `kubectl scale` uses it. */
import { section } from "../objects/kind.ts";
import { type ApiObject, at, type JsonObject } from "../objects/object.ts";
import { field, invalid, unsupportedMediaType } from "../objects/status.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { mediaType, readBody } from "./body.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { findObject } from "./get.ts";
import { readPatch } from "./patch.ts";
import { updateObject } from "./write.ts";
import { parseWriteOptions } from "./write-options.ts";

export async function getScale(context: KindContext): Promise<ApiResponse> {
  return toResponse(findObject(context).value);
}

export async function updateScale(context: KindContext): Promise<ApiResponse> {
  const { value } = await readBody(context, "Scale");
  return write(context, () => value);
}

export async function patchScale(context: KindContext): Promise<ApiResponse> {
  const type = mediaType(context.request.headers["content-type"]);
  const { value } = readPatch(await context.request.body());
  if (type === "application/json-patch+json") return write(context, (scale) => jsonPatch(scale, value));
  if (!type.endsWith("merge-patch+json")) throw unsupportedMediaType(`unsupported media type: ${type}`);
  return write(context, (scale) => mergePatch(scale, value));
}

async function write(context: KindContext, change: (scale: JsonObject) => unknown): Promise<ApiResponse> {
  const whole: KindContext = {
    ...context,
    recordedSubresource: "scale",
    info: { ...context.info, subresource: "" },
  };
  const { stored } = await updateObject(
    whole,
    parseWriteOptions(context),
    (current) => {
      const object = current as ApiObject;
      const wanted = change(toScale(object));
      const replicas = Number(at(wanted, "spec", "replicas") ?? 0);
      if (!(replicas >= 0)) {
        const why = field.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
        throw invalid({ group: "autoscaling", kind: "Scale", name: context.info.name }, [why]);
      }
      const version = at(wanted, "metadata", "resourceVersion") as string | undefined;
      const metadata = { ...object.metadata, ...(version ? { resourceVersion: version } : {}) };
      return { ...object, metadata, spec: { ...section(object, "spec"), replicas } };
    },
    false,
  );
  return toResponse(stored.value);
}

const toResponse = (object: ApiObject): ApiResponse => ({
  type: "object",
  code: 200,
  value: toScale(object),
});

function toScale(object: ApiObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  // The selector of a ReplicationController is a map of labels.
  const path = object.kind === "ReplicationController" ? [] : ["matchLabels"];
  const labels = (at(object, "spec", "selector", ...path) ?? {}) as Record<string, string>;
  const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: at(object, "spec", "replicas") ?? 0 },
    status: { replicas: at(object, "status", "replicas") ?? 0, selector: selector.join(",") },
  };
}
