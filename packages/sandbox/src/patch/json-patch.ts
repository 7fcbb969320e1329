/**
 * JSON patch, RFC 6902, with the extensions of the library that kube-apiserver uses: a negative index counts from the
 * end, and replacing a field that does not exist adds it. A path reaches only own fields of an object, never what
 * JavaScript objects inherit.
 */
import { equal, isObject, type JsonObject, put } from "../objects/object.ts";
import { ApiError, badRequest } from "../objects/status.ts";

/** The limits of the API server. A patch that copies can otherwise double the object with every operation. */
const maxOperations = 10_000;
const maxCopiedBytes = 3 * 1024 * 1024;

export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  }
  if (patch.length > maxOperations) {
    const why = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw new ApiError(413, "RequestEntityTooLarge", why);
  }
  const document: Document = { root: structuredClone(target), copiedBytes: 0 };
  try {
    for (const operation of patch) applyOperation(document, operation);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const text = "the server rejected our request due to an error in our request";
    throw new ApiError(422, "Invalid", text, {});
  }
  return document.root;
}

/** The patch does not apply. The API server does not say why. */
class PatchError extends Error {
  override readonly name = "PatchError";
}

interface Document {
  root: unknown;
  copiedBytes: number;
}

/** The object or list that a path leads to, and the last part of the path. */
interface Place {
  container: JsonObject | unknown[];
  key: string;
}

function applyOperation(document: Document, operation: unknown): void {
  if (!isObject(operation)) throw new PatchError("no operation");
  // A copy: later operations change the document, and the patch may be applied again.
  const value = structuredClone(operation.value ?? null);
  const path = textField(operation, "path");
  switch (operation.op) {
    case "add":
      add(find(document, path), value);
      return;
    case "remove":
      remove(find(document, path));
      return;
    case "replace":
      if (path === "") document.root = value;
      else replace(find(document, path), value);
      return;
    case "test": {
      const found = path === "" ? document.root : read(find(document, path));
      if (!equal(found ?? null, value)) throw new PatchError("test failed");
      return;
    }
    case "move": {
      const from = find(document, textField(operation, "from"));
      const moved = read(from);
      remove(from);
      add(find(document, path), moved);
      return;
    }
    case "copy": {
      const copied = JSON.stringify(read(find(document, textField(operation, "from"))) ?? null);
      document.copiedBytes += Buffer.byteLength(copied);
      if (document.copiedBytes > maxCopiedBytes) throw new PatchError("copies too much");
      add(find(document, path), JSON.parse(copied));
      return;
    }
    default:
      throw new PatchError("no such operation");
  }
}

function textField(operation: JsonObject, name: string): string {
  const text = operation[name];
  if (typeof text !== "string") throw new PatchError(`no ${name}`);
  return text;
}

function find(document: Document, path: string): Place {
  // Everything before the first slash is ignored.
  const parts = path.split("/").slice(1).map(unescaped);
  const key = parts.pop();
  if (key === undefined) throw new PatchError("no path");
  let container = document.root;
  for (const part of parts) container = readFrom(container, part);
  if (!isObject(container) && !Array.isArray(container)) throw new PatchError("no such path");
  return { container, key };
}

const unescaped = (part: string) => part.replaceAll("~1", "/").replaceAll("~0", "~");

const read = ({ container, key }: Place) => readFrom(container, key);

function readFrom(container: unknown, key: string): unknown {
  if (Array.isArray(container)) return container[indexOf(key, container.length)];
  if (!isObject(container)) throw new PatchError("no such path");
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) put(container, key, value);
  else if (key === "-") container.push(value);
  else container.splice(indexOf(key, container.length + 1), 0, value);
}

function replace({ container, key }: Place, value: unknown): void {
  if (Array.isArray(container)) container[indexOf(key, container.length)] = value;
  else put(container, key, value);
}

function remove({ container, key }: Place): void {
  if (Array.isArray(container)) {
    container.splice(indexOf(key, container.length), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw new PatchError("nothing to remove");
  delete container[key];
}

function indexOf(key: string, length: number): number {
  if (!/^[+-]?\d+$/.test(key)) throw new PatchError("not an index");
  const index = Number(key) < 0 ? Number(key) + length : Number(key);
  if (index < 0 || index >= length) throw new PatchError("no such index");
  return index;
}
