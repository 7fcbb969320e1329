/** Reads a request body in JSON, YAML or protobuf. */
import { JsonSyntaxError, keyPlaces, parseJson } from "../objects/json.ts";
import { isObject } from "../objects/object.ts";
import { ProtobufError, readProtobuf } from "../objects/protobuf.ts";
import { typeOf } from "../objects/resources.ts";
import { badRequest, unsupportedMediaType } from "../objects/status.ts";
import type { Context } from "./context.ts";

/** The limit of the API server: enough for any object that fits into etcd. */
export const maxBodyBytes = 3 * 1024 * 1024;
/** Enough for any manifest, and low enough to stop a "billion laughs" attack. */
const maxYamlAliases = 100;
const maxYamlNodes = 1_000_000;

export interface Body {
  value: unknown;
  duplicates: string[];
  /** Where each key is in the body, by path. */
  places?(): Map<string, number>;
  /** The text of numbers by path, where it matters. */
  literals?: ReadonlyMap<string, string>;
}

/** `expected` is the kind that the path requires. Error messages name it. */
export async function readBody(context: Context, expected: string): Promise<Body> {
  const type = mediaType(context.request.headers["content-type"]);
  const read = readers.get(type);
  if (read) return readAs(expected, await context.request.body(), read);
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${protobufType}`,
  );
}

const protobufType = "application/vnd.kubernetes.protobuf";
const readers = new Map<string, (bytes: Buffer) => Body | Promise<Body>>([
  ["", readJson],
  ["application/json", readJson],
  ["application/yaml", readYaml],
  [protobufType, readBinary],
]);
const goTypeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

async function readAs(
  expected: string,
  bytes: Buffer,
  read: (bytes: Buffer) => Body | Promise<Body>,
): Promise<Body> {
  const rejection = (why: string) =>
    badRequest(
      expected === "DeleteOptions"
        ? why
        : `the object provided is unrecognized (must be of type ${expected}): ${why} (${summarize(bytes)})`,
    );
  try {
    const body = await read(bytes);
    const { value } = body;
    if (value === null) return { ...body, value: {} };
    if (isObject(value)) return body;
    const what = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    throw new BodyError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type ${goTypeMeta}`,
    );
  } catch (error) {
    if (error instanceof BodyError) throw rejection(error.message);
    throw error;
  }
}

/** The body cannot be read. The message says why. */
export class BodyError extends Error {
  override readonly name = "BodyError";
}

/** The beginning of a body, as error messages quote it. */
function summarize(bytes: Buffer): string {
  if (bytes.length === 0) return "<empty>";
  const more = bytes.length > 30 ? " ..." : "";
  const start = bytes.subarray(0, 30);
  return `${start[0] === 0x7b ? start.toString() : start.toString("hex")}${more}`;
}

export const mediaType = (header: string | undefined) =>
  (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

export function readJson(bytes: Buffer): Body {
  try {
    const text = bytes.toString("utf8");
    const { value, duplicates, literals } = parseJson(text);
    return { value, duplicates, literals, places: () => keyPlaces(text) };
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw new BodyError(`couldn't get version/kind; json parse error: ${error.message}`);
    throw error;
  }
}

function readBinary(bytes: Buffer): Body {
  try {
    return { value: readProtobuf(bytes, typeOf), duplicates: [] };
  } catch (error) {
    if (error instanceof ProtobufError) throw new BodyError(error.message);
    throw error;
  }
}

export async function readYaml(bytes: Buffer): Promise<Body> {
  const { load } = await import("js-yaml");
  let value: unknown;
  try {
    value = load(bytes.toString("utf8"), { maxAliases: maxYamlAliases });
  } catch (error) {
    throw new BodyError(`error converting YAML to JSON: yaml: ${(error as Error).message.split("\n")[0]}`);
  }
  checkExpandedSize(value, { left: maxYamlNodes });
  return { value: JSON.parse(JSON.stringify(value ?? null)), duplicates: [] };
}

/** Limits the expanded size: aliases share nodes, so the expanded document can be far larger than the body. */
function checkExpandedSize(value: unknown, budget: { left: number }): void {
  if (--budget.left < 0)
    throw new BodyError("error converting YAML to JSON: yaml: document contains excessive aliasing");
  if (typeof value === "object" && value !== null)
    for (const child of Object.values(value)) checkExpandedSize(child, budget);
}
