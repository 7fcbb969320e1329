/** GET of a collection, whole or in pages. All pages show the revision of the first page. */
import { quote } from "../objects/quote.ts";
import { type ApiError, badRequest, expired, type FieldError, field, invalid } from "../objects/status.ts";
import type { Store } from "../store/store.ts";
import type { Stored } from "../store/types.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { checkNotTooNew, parseInteger } from "./query.ts";
import { representList } from "./represent.ts";
import { parseSelection } from "./selection.ts";

interface Continue {
  revision: number;
  /** The last key of the previous page. */
  after: string;
}

export async function list(context: KindContext): Promise<ApiResponse> {
  const { cluster, request } = context;
  const { store } = cluster;
  const { query } = request;
  checkListOptions(query);
  const selection = parseSelection(context);
  const limit = parseInteger(query.get("limit") ?? "0");
  const token = query.get("continue") ?? "";
  const start = token ? decodeContinue(token, selection.prefix) : undefined;
  const asked = query.get("resourceVersion") ?? "";
  if (asked === "" || Number(asked) > store.revision) await store.caughtUp();
  checkNotTooNew(asked, store.revision);
  const exact = query.get("resourceVersionMatch") === "Exact";
  const revision = start?.revision ?? (exact ? Number(asked) : store.revision);

  const page = store.page(selection.prefix, {
    revision,
    ...(start ? { after: start.after } : {}),
    ...(limit > 0 ? { limit } : {}),
    matches: selection.matches,
  });
  if (page === undefined) throw tooOld(store, start, selection.prefix);
  const { items, remaining } = page;
  const resourceVersion = String(revision);
  if (!(limit > 0) || items.length < limit || remaining === 0)
    return representList(context, items, { resourceVersion });
  const filtered = query.get("labelSelector") || query.get("fieldSelector");
  return representList(context, items, {
    resourceVersion,
    continue: encodeContinue({ revision, after: (items.at(-1) as Stored).key }, selection.prefix),
    // Kubernetes does not count the remaining items if there is a selector.
    ...(filtered ? {} : { remainingItemCount: remaining }),
  });
}

function checkListOptions(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  const errors: FieldError[] = [];
  const path = "resourceVersionMatch";
  if (match) {
    if (!version)
      errors.push(
        field.forbidden(path, "resourceVersionMatch is forbidden unless resourceVersion is provided"),
      );
    if (query.get("continue"))
      errors.push(field.forbidden(path, "resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(field.notSupported(path, match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && version === "0") {
      errors.push(field.forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.get("sendInitialEvents"))
    errors.push(field.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions", name: "" }, errors);
  if (query.get("continue") && version && version !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
}

function encodeContinue({ revision, after }: Continue, prefix: string): string {
  const start = `${after.slice(prefix.length)}\u0000`;
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start })).toString("base64url");
}

function decodeContinue(token: string, prefix: string): Continue {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(token, "base64url").toString()) as {
      v: string;
      rv: number;
      start: string;
    };
    if (v !== "meta.k8s.io/v1" || !Number.isInteger(rv) || typeof start !== "string")
      throw new Error("not a token");
    return { revision: rv, after: prefix + (start.endsWith("\u0000") ? start.slice(0, -1) : start) };
  } catch {
    throw badRequest(`invalid continue token: continue key is not valid: ${quote(token)}`);
  }
}

function tooOld(store: Store, page: Continue | undefined, prefix: string): ApiError {
  if (!page) return expired(`The resourceVersion for the provided list is too old.`);
  const error = expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
  );
  error.status.metadata = {
    continue: encodeContinue({ revision: store.revision, after: page.after }, prefix),
  };
  return error;
}
