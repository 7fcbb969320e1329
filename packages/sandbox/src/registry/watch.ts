/**
 * A watch sends every change to the selected objects after a revision, in order and exactly once. If the history no
 * longer reaches back to that revision, the client gets 410 and has to list again.
 */
import { after } from "@tenure/base";
import { jsonText } from "../objects/json-text.ts";
import { apiVersion } from "../objects/kind.ts";
import { withMetadata } from "../objects/object.ts";
import { ApiError, expired, type FieldError, field, invalid } from "../objects/status.ts";
import type { Stored, StoreEvent } from "../store/types.ts";
import type { ApiResponse, KindContext, Sink } from "./context.ts";
import { invalidVersionMessage, isTrue, parseInteger } from "./query.ts";
import { representOne } from "./represent.ts";
import { parseSelection, type Selection } from "./selection.ts";

/** A watch ends after 30 to 60 minutes, as in Kubernetes, so that clients spread over several servers again. */
const minTimeoutSeconds = 1800;
const bookmarkIntervalMs = 60_000;

export async function watch(context: KindContext): Promise<ApiResponse> {
  const { cluster, request } = context;
  const { query } = request;
  checkWatchOptions(query);
  const selection = parseSelection(context);
  const version = query.get("resourceVersion") ?? "";
  if (!/^\d*$/.test(version)) throw new ApiError(500, "", invalidVersionMessage(version));
  if (version === "" || Number(version) > cluster.store.revision) await cluster.store.caughtUp();
  const given = parseInteger(query.get("timeoutSeconds") ?? "0");
  const seconds = given > 0 ? given : minTimeoutSeconds * (1 + cluster.platform.random());
  return { type: "stream", start: (sink) => start(context, selection, seconds, sink) };
}

function checkWatchOptions(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents");
  const errors: FieldError[] = [];
  const path = "resourceVersionMatch";
  if (initial !== null && match !== "NotOlderThan") {
    errors.push(
      field.forbidden(path, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    );
  }
  if (match) {
    if (initial === null) {
      errors.push(
        field.forbidden(
          path,
          "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
      );
    }
    if (match !== "NotOlderThan") errors.push(field.notSupported(path, match, ["NotOlderThan"]));
  }
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions", name: "" }, errors);
}

function start(context: KindContext, selection: Selection, seconds: number, sink: Sink): void {
  const { cluster, request } = context;
  const { store, platform } = cluster;
  const { query } = request;
  const version = query.get("resourceVersion") ?? "";
  const initial = query.get("sendInitialEvents");
  const lines = new Lines(context);
  const fresh = initial === null ? version === "" || version === "0" : isTrue(initial);
  const startRevision = fresh ? store.revision : version === "" ? store.revision : Number(version);

  if (fresh) {
    for (const stored of store.list(selection.prefix)) {
      if (selection.matches(stored.value)) sink.write(lines.line("ADDED", stored));
    }
    if (initial !== null && isTrue(query.get("allowWatchBookmarks"))) {
      sink.write(bookmark(context, startRevision, { "k8s.io/initial-events-end": "true" }));
    }
  }
  const stop = store.watch(selection.prefix, startRevision, (event) => {
    if (event.revision <= startRevision) return;
    const type = typeFor(event, selection);
    if (!type) return;
    const leaves = type === "DELETED" && event.type !== "DELETED";
    if (leaves) sink.write(lines.line(type, lastMatch(event)));
    else sink.write(lines.line(type, event.object, event));
  });
  if (stop === undefined) {
    sink.write(errorLine(expired(`too old resource version: ${startRevision} (${store.compactedRevision})`)));
    sink.end();
    return;
  }

  const end = after(platform.clock, seconds * 1000, () => sink.end());
  let tick = nextBookmark();
  function nextBookmark() {
    if (!isTrue(query.get("allowWatchBookmarks"))) return undefined;
    return after(platform.clock, bookmarkIntervalMs, () => {
      sink.write(bookmark(context, store.revision, undefined));
      tick = nextBookmark();
    });
  }
  sink.onClose(() => {
    stop();
    end();
    tick?.();
  });
}

/** For a watch with a selector, an object is ADDED when it begins to match and DELETED when it stops matching. */
function typeFor(
  { type, object, previous }: StoreEvent,
  selection: Selection,
): StoreEvent["type"] | undefined {
  const now = type !== "DELETED" && selection.matches(object.value);
  const before = previous !== undefined && selection.matches(previous.value);
  if (now) return before ? "MODIFIED" : "ADDED";
  return before ? "DELETED" : undefined;
}

/** The state of an object before it stopped matching, with the revision of that change. */
function lastMatch({ previous, revision }: StoreEvent): Stored {
  const { key, value } = previous as Stored;
  const last = withMetadata(value, { resourceVersion: String(revision) });
  return { key, revision, value: last, json: jsonText(last) };
}

/** The lines of events, shared by all watches that send whole objects. */
const cache = new WeakMap<StoreEvent, Map<string, string>>();

class Lines {
  readonly #context: KindContext;
  readonly #plain: boolean;
  #first = true;

  constructor(context: KindContext) {
    this.#context = context;
    this.#plain = context.responseForm.as === "object" && !context.kind.convert;
  }

  line(type: string, stored: Stored, event?: StoreEvent): string {
    if (!this.#plain) {
      const object = representOne(this.#context, stored, this.#first);
      this.#first = false;
      return `${jsonText({ type, object })}\n`;
    }
    const known = event && cache.get(event)?.get(type);
    if (known) return known;
    const text = `{"type":"${type}","object":${stored.json}}\n`;
    if (event) {
      const lines = cache.get(event) ?? new Map<string, string>();
      cache.set(event, lines.set(type, text));
    }
    return text;
  }
}

function bookmark(
  context: KindContext,
  revision: number,
  annotations: Record<string, string> | undefined,
): string {
  const { kind, responseForm } = context;
  const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) };
  const object =
    responseForm.as === "Table"
      ? {
          kind: "Table",
          apiVersion: "meta.k8s.io/v1",
          metadata: { resourceVersion: String(revision) },
          columnDefinitions: null,
          rows: [
            {
              cells: kind.columns.map(() => ""),
              object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata },
            },
          ],
        }
      : responseForm.as === "object"
        ? { kind: kind.kind, apiVersion: apiVersion(kind), metadata }
        : { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  return `${JSON.stringify({ type: "BOOKMARK", object })}\n`;
}

const errorLine = (error: ApiError) => `${JSON.stringify({ type: "ERROR", object: error.status })}\n`;
