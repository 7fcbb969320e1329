/** PATCH in its four formats. The result is decoded and then written like any other object. */
import { DecodeError, decodeSparse } from "../objects/decode.ts";
import { apiVersion } from "../objects/kind.ts";
import { type ApiObject, isObject, type JsonObject, textOf } from "../objects/object.ts";
import { typeNamed } from "../objects/schema.ts";
import { ApiError, badRequest, field, invalid } from "../objects/status.ts";
import { apply } from "../patch/apply.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { duplicateItems } from "../patch/typed-objects.ts";
import { BodyError, mediaType, readJson, readYaml } from "./body.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { cannotBeHandled, checkResourceVersion, decodePatched } from "./decode-body.ts";
import { represent } from "./represent.ts";
import { updateObject } from "./write.ts";
import { parseWriteOptions, type WriteOptions } from "./write-options.ts";

const applyType = "application/apply-patch+yaml";
type Patcher = (target: ApiObject, patch: unknown, context: KindContext) => unknown;
const patchers = new Map<string, Patcher>([
  ["application/json-patch+json", (target, patch) => jsonPatch(target, patch)],
  ["application/merge-patch+json", (target, patch) => mergePatch(target, patch)],
  [
    "application/strategic-merge-patch+json",
    (target, patch, { kind }) => strategicMergePatch(target, patch, typeNamed(kind.type)),
  ],
]);

export async function patch(context: KindContext): Promise<ApiResponse> {
  const type = mediaType(context.request.headers["content-type"]);
  const options = parseWriteOptions(context, type === applyType);
  if (type === applyType) return serverSideApply(context, options);
  const change = patchers.get(type);
  if (!change) {
    throw new ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  }
  const bytes = await context.request.body();
  const { value: document } = readPatch(bytes);
  if (type !== "application/json-patch+json" && !isObject(document)) {
    const what = Array.isArray(document) ? "array" : typeof document;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${what} into Go value of type map[string]interface {}`,
    );
  }
  const { stored } = await updateObject(
    context,
    options,
    (current) => {
      const target = versioned(context, current as ApiObject);
      const patched = change(target, document, context);
      const show = () =>
        type.startsWith("application/strategic") ? printMap(document) : JSON.stringify(patched);
      return checked(context, patched, options, show);
    },
    false,
  );
  return represent(context, stored, 200);
}

export function readPatch(bytes: Buffer) {
  try {
    return readJson(bytes);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    const why = error.message.replace("couldn't get version/kind; json parse error: ", "");
    throw badRequest(`error decoding patch: ${why}`);
  }
}

/** Checks that the result of a patch is an object of the kind, with the same name and namespace. */
function checked(context: KindContext, value: unknown, options: WriteOptions, show: () => string): ApiObject {
  const { kind, info } = context;
  let object: ApiObject;
  try {
    object = decodePatched(context, value, options.fieldValidation);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const why = error.message.replace(cannotBeHandled(kind, ""), "");
    const cause = field.invalid("patch", show(), why);
    throw invalid({ group: "", kind: "", name: "" }, [cause]);
  }
  const { name, namespace } = object.metadata;
  if (name !== info.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
  }
  if (kind.namespaced && namespace !== info.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  checkResourceVersion(object);
  return object;
}

/** Prints a value as Go prints a map: error messages show a strategic merge patch this way. */
function printMap(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printMap).join(" ")}]`;
  if (!isObject(value)) return textOf(value);
  return `map[${Object.keys(value)
    .sort()
    .map((key) => `${key}:${printMap(value[key])}`)
    .join(" ")}]`;
}

const versioned = ({ kind }: KindContext, object: ApiObject) =>
  kind.convert ? kind.convert.fromStored(object) : object;

async function serverSideApply(context: KindContext, options: WriteOptions): Promise<ApiResponse> {
  const { kind, info, cluster } = context;
  const { subresource } = info;
  const { fieldManager, force = false } = options;
  const { value } = await readApplied(await context.request.body());
  const sent = decodeApplied(context, value);
  if (sent.metadata.name && sent.metadata.name !== info.name) {
    throw badRequest(
      `the name of the object (${sent.metadata.name}) does not match the name on the URL (${info.name})`,
    );
  }
  if (sent.metadata.managedFields?.length) throw badRequest("metadata.managedFields must be nil");
  sent.metadata = {
    ...sent.metadata,
    name: info.name,
    ...(kind.namespaced ? { namespace: info.namespace } : {}),
  };
  const applying: KindContext = { ...context, managedFieldsAreSet: true };
  const { stored, created } = await updateObject(
    applying,
    options,
    (current) => {
      const write = { kind, subresource, fieldManager, force, wallMs: cluster.platform.clock.now().wallMs };
      const merged = apply(write, sent, current && versioned(context, current));
      return decodePatched(context, merged, "Ignore");
    },
    subresource === "",
  );
  return represent(context, stored, created ? 201 : 200);
}

async function readApplied(bytes: Buffer) {
  try {
    return await readYaml(bytes);
  } catch (error) {
    if (error instanceof BodyError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

/** Decodes without defaults: the client does not own fields that it did not send. */
function decodeApplied(context: KindContext, value: unknown): ApiObject {
  const { kind } = context;
  if (!isObject(value)) throw badRequest("error decoding YAML: expected an object");
  if (value.apiVersion !== apiVersion(kind) || value.kind !== kind.kind) {
    const version = textOf(value.apiVersion ?? "");
    throw badRequest(
      `invalid object type: ${version.includes("/") ? version : `/${version}`}, Kind=${textOf(value.kind ?? "")}`,
    );
  }
  try {
    const { value: decoded, unknown } = decodeSparse(kind.type, value);
    // Apply needs the type of every field, so it rejects unknown fields at any level of field validation.
    const problems = [
      ...unknown.slice(0, 1).map((path) => `.${path}: field not declared in schema`),
      ...duplicateItems(decoded, typeNamed(kind.type)),
    ];
    if (problems.length > 0) {
      const { namespace = "", name = "" } = (decoded.metadata ?? {}) as { namespace?: string; name?: string };
      const which = `${namespace}/${name}; ${kind.group}/${kind.version}, Kind=${kind.kind}`;
      const what = problems.length > 1 ? `errors:\n  ${problems.join("\n  ")}` : problems[0];
      throw new ApiError(500, "", `failed to create typed patch object (${which}): ${what}`);
    }
    return { ...(decoded as unknown as ApiObject), metadata: (decoded.metadata ?? {}) as JsonObject };
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(cannotBeHandled(kind, error.message));
    throw error;
  }
}
