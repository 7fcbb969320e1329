/** The HTTP API of one lock object: Status bodies, and the history for watches. */
import type { Change, Server, ServerAnswer, StoredLock } from "../server.ts";
import {
  type Changes,
  type Endpoint,
  type HttpAnswer,
  type HttpRequest,
  mostLines,
  type StatusOptions,
  statusAnswer,
  type WatchLine,
} from "./endpoint.ts";
import { type LockKind, lockName, objectOf, parseObject, placeOf } from "./objects.ts";

export class ObjectApi implements Endpoint, Changes {
  readonly server: Server;
  readonly kind: LockKind;
  readonly plural: string;
  readonly #watchers = new Set<(line: WatchLine | "restored") => void>();
  #lines: WatchLine[] = [];
  #oldestRevision = 0n;
  #last: StoredLock | undefined;

  constructor(server: Server, kind: LockKind) {
    this.server = server;
    this.kind = kind;
    this.plural = placeOf(kind).plural;
    server.subscribe((change) => this.#changed(change));
  }

  handle({ writer, method, body }: HttpRequest): HttpAnswer {
    const answer = method === "GET" ? this.server.read() : this.#write(writer, method, body);
    if (answer.kind === "conflict") return this.status(409, method === "POST" ? "AlreadyExists" : "Conflict");
    if (answer.kind === "absent") return this.status(404, "NotFound");
    const text = JSON.stringify(objectOf(this.kind, answer.view));
    return { status: method === "POST" ? 201 : 200, headers: {}, body: text };
  }

  #write(writer: string, method: string, body: string): ServerAnswer {
    const sent = parseObject(this.kind, body);
    // A PUT without a version replaces whatever there is.
    const over = sent.over ?? (method === "PUT" ? this.server.lock : undefined);
    if (method === "PUT" && !over) return { kind: "absent" };
    return this.server.write({ writer, ...sent, over });
  }

  status(code: number, reason: string, options?: StatusOptions): HttpAnswer {
    return statusAnswer({ name: lockName, ...placeOf(this.kind) }, code, reason, options);
  }

  /** Whichever way a watch selects, it is about the one object. */
  changes(): Changes {
    return this;
  }

  current(): WatchLine[] {
    const { lock } = this.server;
    return lock ? [this.#line("ADDED", lock)] : [];
  }

  since(revision: bigint): readonly WatchLine[] | undefined {
    return revision < this.#oldestRevision
      ? undefined
      : this.#lines.filter((line) => line.revision > revision);
  }

  forgetHistory(): void {
    this.#lines = [];
    this.#oldestRevision = this.server.revision;
  }

  subscribe(watcher: (line: WatchLine | "restored") => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #changed(change: Change): void {
    if (change.kind === "restored") {
      this.forgetHistory();
      this.#last = this.server.lock;
      for (const watcher of [...this.#watchers]) watcher("restored");
      return;
    }
    const line =
      change.kind === "written"
        ? this.#line(this.#last ? "MODIFIED" : "ADDED", change.lock)
        : this.#deletion(change.revision);
    this.#last = change.kind === "written" ? change.lock : undefined;
    this.#lines.push(line);
    if (this.#lines.length > mostLines) {
      this.#oldestRevision = this.#lines[0]?.revision ?? 0n;
      this.#lines.shift();
    }
    for (const watcher of [...this.#watchers]) watcher(line);
  }

  #line(type: WatchLine["type"], lock: StoredLock): WatchLine {
    return { type, revision: lock.revision, object: objectOf(this.kind, lock) };
  }

  #deletion(revision: bigint): WatchLine {
    return { type: "DELETED", revision, object: objectOf(this.kind, this.#last as StoredLock, revision) };
  }
}
