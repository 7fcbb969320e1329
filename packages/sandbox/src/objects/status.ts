/**
 * The errors of the API, in the wording of kube-apiserver. An ApiError thrown while a request is handled becomes the
 * Status in the response. Users of the library never see an ApiError.
 */
import { quote } from "./quote.ts";

interface Cause {
  reason: string;
  message: string;
  field?: string;
}

interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: { continue?: string };
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: Status;

  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      ...(reason ? { reason } : {}),
      ...(details ? { details } : {}),
      code,
    };
  }
}

/** The resource that an error is about. */
export interface Subject {
  group: string;
  /** Plural, as in the path. */
  resource: string;
  name?: string;
}

export function qualified(subject: { group: string; resource: string }): string {
  return subject.group ? `${subject.resource}.${subject.group}` : subject.resource;
}

function details({ name, group, resource }: Subject): StatusDetails {
  return { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: resource };
}

export const badRequest = (message: string) => new ApiError(400, "BadRequest", message);

export const unauthorized = () => new ApiError(401, "Unauthorized", "Unauthorized");

export const forbidden = (subject: Subject, why: string) =>
  new ApiError(
    403,
    "Forbidden",
    subject.name
      ? `${qualified(subject)} ${quote(subject.name)} is forbidden: ${why}`
      : `${qualified(subject)} is forbidden: ${why}`,
    details(subject),
  );

export const forbiddenPath = (why: string) => new ApiError(403, "Forbidden", `forbidden: ${why}`, {});

export const notFound = (subject: Subject) =>
  new ApiError(
    404,
    "NotFound",
    `${qualified(subject)} ${quote(subject.name ?? "")} not found`,
    details(subject),
  );

export const noSuchResource = () =>
  new ApiError(404, "NotFound", "the server could not find the requested resource", {});

export const methodNotAllowed = () =>
  new ApiError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );

export function alreadyExists(subject: Subject, { generated = false, deleting = false } = {}): ApiError {
  const why = `${qualified(subject)} ${quote(subject.name ?? "")} already exists`;
  const more = generated ? ", the server was not able to generate a unique name for the object" : "";
  return new ApiError(409, "AlreadyExists", `${deleting ? "object is being deleted: " : ""}${why}${more}`, {
    ...details(subject),
    ...(generated ? { retryAfterSeconds: 1 } : {}),
  });
}

const modifiedMessage =
  "the object has been modified; please apply your changes to the latest version and try again";

export const conflict = (subject: Subject, why: string = modifiedMessage) =>
  new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(subject)} ${quote(subject.name ?? "")}: ${why}`,
    details(subject),
  );

export const expired = (message: string) => new ApiError(410, "Expired", message);

export const tooLarge = (limitBytes: number) =>
  new ApiError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limitBytes}`);

export const unsupportedMediaType = (message: string) => new ApiError(415, "UnsupportedMediaType", message);

/** What responses can be. A real API server also lists protobuf. */
export const supportedTypes = "application/json, application/yaml";

/** The client accepts a format of the API, but not in a form that this resource has. */
export const onlyTheseTypes = () =>
  new ApiError(406, "NotAcceptable", `only the following media types are accepted: ${supportedTypes}`);

/** Names the object by kind, not by resource: `Lease.coordination.k8s.io "x" is invalid`. */
export function invalid(
  subject: { group: string; kind: string; name: string },
  causes: FieldError[],
): ApiError {
  const lines = causes.map(({ field, message }) => `${field}: ${message}`);
  const what = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  const kind = subject.group ? `${subject.kind}.${subject.group}` : subject.kind;
  return new ApiError(422, "Invalid", `${kind} ${quote(subject.name)} is invalid: ${what}`, {
    ...(subject.name ? { name: subject.name } : {}),
    ...(subject.group ? { group: subject.group } : {}),
    ...(subject.kind ? { kind: subject.kind } : {}),
    causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

/** A problem with one field, in the wording of k8s.io/apimachinery/pkg/util/validation/field. */
export interface FieldError {
  reason: string;
  message: string;
  field: string;
}

const shown = (value: unknown) => (typeof value === "string" ? quote(value) : JSON.stringify(value));

export const field = {
  required: (path: string, detail = ""): FieldError => ({
    reason: "FieldValueRequired",
    message: `Required value${detail ? `: ${detail}` : ""}`,
    field: path,
  }),
  invalid: (path: string, value: unknown, detail: string): FieldError => ({
    reason: "FieldValueInvalid",
    message: `Invalid value: ${shown(value)}: ${detail}`,
    field: path,
  }),
  notSupported: (path: string, value: unknown, supported: string[]): FieldError => ({
    reason: "FieldValueNotSupported",
    message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(quote).join(", ")}`,
    field: path,
  }),
  notFound: (path: string, value: unknown): FieldError => ({
    reason: "FieldValueNotFound",
    message: `Not found: ${shown(value)}`,
    field: path,
  }),
  duplicate: (path: string, value: unknown): FieldError => ({
    reason: "FieldValueDuplicate",
    message: `Duplicate value: ${shown(value)}`,
    field: path,
  }),
  forbidden: (path: string, detail: string): FieldError => ({
    reason: "FieldValueForbidden",
    message: `Forbidden: ${detail}`,
    field: path,
  }),
  tooLong: (path: string, maxBytes: number): FieldError => ({
    reason: "FieldValueTooLong",
    message: `Too long: may not be more than ${maxBytes} bytes`,
    field: path,
  }),
};
