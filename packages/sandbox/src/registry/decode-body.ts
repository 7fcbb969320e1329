/**
 * Decodes a body as an object of the kind that the path names. Rejects, warns about or ignores unknown and duplicate
 * fields.
 */
import { type Decoded, DecodeError, decode } from "../objects/decode.ts";
import { apiVersion, type Kind } from "../objects/kind.ts";
import { type ApiObject, isObject, type JsonObject, textOf } from "../objects/object.ts";
import { quote } from "../objects/quote.ts";
import { isKnownType, notRegistered } from "../objects/resources.ts";
import { ApiError, badRequest } from "../objects/status.ts";
import { type Body, readBody } from "./body.ts";
import type { KindContext } from "./context.ts";

/** The number that Kubernetes reports. */
const maxProblems = 100;

export async function decodeBody(context: KindContext, fieldValidation: string): Promise<ApiObject> {
  const body = await readBody(context, context.kind.kind);
  return toObject(context, body, fieldValidation);
}

function toObject(context: KindContext, body: Body, fieldValidation: string): ApiObject {
  const { kind } = context;
  const raw = checkType(kind, body.value);
  const explain = (why: string) => cannotBeHandled(kind, why);
  const { value, unknown } = decodeOrReject(kind.type, raw, explain, body.literals);
  // Duplicates inside an unknown field are not reported, because the field is dropped.
  const dropped = new Set(unknown);
  const kept = body.duplicates.filter((path) => !pathsTo(path).some((parent) => dropped.has(parent)));
  const found = [
    ...kept.map((path) => ({ path, text: `duplicate field ${quote(path)}` })),
    ...unknown.map((path) => ({ path, text: `unknown field ${quote(path)}` })),
  ];
  // In the order of the body.
  const places = found.length > 1 ? body.places?.() : undefined;
  if (places) found.sort((a, b) => (places.get(a.path) ?? 0) - (places.get(b.path) ?? 0));
  const problems = found.map(({ text }) => text).slice(0, maxProblems);
  if (problems.length > 0) {
    if (fieldValidation === "Strict") {
      throw badRequest(cannotBeHandled(kind, `strict decoding error: ${problems.join(", ")}`));
    }
    if (fieldValidation !== "Ignore") context.warnings.push(...problems);
  }
  return fromDecoded(kind, value);
}

/** A path and the paths of all its parents. */
function pathsTo(path: string): string[] {
  return [...[...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index)), path];
}

export function cannotBeHandled(kind: Kind, why: string): string {
  return `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${why}`;
}

/** The body may omit kind and apiVersion. If it has them, they must be correct. */
function checkType(kind: Kind, value: unknown): JsonObject {
  if (!isObject(value))
    throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind})`);
  const given = textOf(value.apiVersion || apiVersion(kind));
  const name = textOf(value.kind || kind.kind);
  if (given === apiVersion(kind) && name === kind.kind) return value;
  const version = given.slice(given.indexOf("/") + 1);
  const rejection = (why: string) =>
    badRequest(`${name} in version ${quote(version)} cannot be handled as a ${kind.kind}: ${why}`);
  if (name !== kind.kind && !isKnownType(given, name)) throw rejection(notRegistered(given, name));
  if (name !== kind.kind) {
    throw rejection(
      `converting (${version}.${name}) to (${kind.group.split(".")[0] || "core"}.${kind.kind}): unknown conversion`,
    );
  }
  throw badRequest(
    `the API version in the data (${given}) does not match the expected API version (${apiVersion(kind)})`,
  );
}

/** Decodes a value as a type. If it does not have the type, `explain` makes the message of the response. */
export function decodeOrReject(
  type: string,
  value: unknown,
  explain: (why: string) => string,
  literals?: ReadonlyMap<string, string>,
): Decoded {
  try {
    return decode(type, value, literals);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(explain(error.message));
    throw error;
  }
}

/** Decodes the result of a patch. */
export function decodePatched(context: KindContext, value: unknown, fieldValidation: string): ApiObject {
  return toObject(context, { value, duplicates: [] }, fieldValidation);
}

function fromDecoded(kind: Kind, value: JsonObject): ApiObject {
  const { kind: _kind, apiVersion: _version, metadata, ...rest } = value;
  const meta = { ...(metadata as JsonObject) };
  delete meta.selfLink;
  const object = { kind: kind.kind, apiVersion: apiVersion(kind), metadata: meta, ...rest } as ApiObject;
  return kind.convert ? kind.convert.toStored(object) : object;
}

/** A resourceVersion is opaque to clients, but the server expects a number. */
export function checkResourceVersion(object: ApiObject): void {
  const { resourceVersion } = object.metadata;
  if (resourceVersion === undefined || /^\d+$/.test(resourceVersion)) return;
  throw new ApiError(500, "", `strconv.ParseUint: parsing ${quote(resourceVersion)}: invalid syntax`);
}
