/** The options of a write, from the query. */
import { isPrintable } from "../objects/quote.ts";
import { badRequest, type FieldError, field, invalid } from "../objects/status.ts";
import type { Context } from "./context.ts";

export interface WriteOptions {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: string;
  force: boolean | undefined;
}

const fieldValidations = ["", "Ignore", "Strict", "Warn"];
const maxManagerBytes = 128;

export function parseWriteOptions({ request, info }: Context, apply = false): WriteOptions {
  const { query } = request;
  const errors: FieldError[] = [];
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const manager = query.get("fieldManager") ?? "";
  const forceText = query.get("force");
  if (forceText !== null && !["true", "false", "1", "0"].includes(forceText)) {
    throw badRequest(`invalid value for force: ${forceText}`);
  }
  const force = forceText === null ? undefined : forceText === "true" || forceText === "1";
  if (apply && manager === "") errors.push(field.required("fieldManager", "is required for apply patch"));
  if (!apply && force !== undefined && info.verb === "patch") {
    errors.push(field.forbidden("force", "may not be specified for non-apply patch"));
  }
  if (Buffer.byteLength(manager) > maxManagerBytes)
    errors.push(field.tooLong("fieldManager", maxManagerBytes));
  errors.push(...unprintable(manager));
  if (dryRun.some((value) => value !== "All")) errors.push(field.notSupported("dryRun", dryRun, ["All"]));
  if (!fieldValidations.includes(fieldValidation)) {
    errors.push(field.notSupported("fieldValidation", fieldValidation, fieldValidations));
  }
  if (errors.length > 0) {
    const kind =
      { create: "CreateOptions", update: "UpdateOptions", patch: "PatchOptions" }[info.verb] ??
      "DeleteOptions";
    throw invalid({ group: "meta.k8s.io", kind, name: "" }, errors);
  }
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager || defaultManager(request.headers["user-agent"] ?? ""),
    fieldValidation: fieldValidation || "Warn",
    force,
  };
}

function unprintable(manager: string): FieldError[] {
  const characters = [...manager];
  return characters.flatMap((character, index) => {
    if (isPrintable(character)) return [];
    const code = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0");
    const position = Buffer.byteLength(characters.slice(0, index).join(""));
    const why = `invalid character U+${code} (at position ${position})`;
    return [field.invalid("fieldManager", manager, why)];
  });
}

/** The default field manager is the name of the client program: the user agent up to the first slash. */
function defaultManager(userAgent: string): string {
  const name = userAgent.split("/")[0]?.replace(/[^\x20-\x7e]/g, "") ?? "";
  return name.slice(0, maxManagerBytes) || "unknown";
}
