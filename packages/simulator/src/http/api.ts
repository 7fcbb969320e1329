/** The HTTP API over the simulated server: paths, status codes, Status bodies and the history for watches. */
import type { Change, Server, ServerAnswer, StoredLock } from "../server.ts";
import { type LockKind, lockName, objectOf, parseObject, placeOf } from "./objects.ts";

export interface HttpRequest {
  readonly writer: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly authorization: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What the answer tells about the lock. */
  readonly shows?: StoredLock | "absent" | undefined;
}

export interface WatchLine {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: bigint;
  readonly object: object;
  readonly shows: StoredLock | "absent";
}

/** The server forgets older changes. A watch that asks for them is answered with 410. */
const mostLines = 12;

export class HttpApi {
  readonly server: Server;
  readonly kind: LockKind;
  /** The number of the token that the server accepts. */
  token = 0;
  readonly #watchers = new Set<(line: WatchLine | "restored") => void>();
  #lines: WatchLine[] = [];
  #oldestRevision = 0n;
  #last: StoredLock | undefined;

  constructor(server: Server, kind: LockKind) {
    this.server = server;
    this.kind = kind;
    server.subscribe((change) => this.#changed(change));
  }

  get authorization(): string {
    return `Bearer token-${this.token}`;
  }

  handle({ writer, method, path, body, authorization }: HttpRequest): HttpAnswer {
    if (authorization !== this.authorization) return this.status(401, "Unauthorized");
    if (path.endsWith("/events")) return { status: 201, headers: {}, body: "{}" };
    const answer = method === "GET" ? this.server.read() : this.#write(writer, method, body);
    if (answer.kind === "conflict") return this.status(409, method === "POST" ? "AlreadyExists" : "Conflict");
    if (answer.kind === "absent") return { ...this.status(404, "NotFound"), shows: "absent" };
    const text = JSON.stringify(objectOf(this.kind, answer.view));
    return { status: method === "POST" ? 201 : 200, headers: {}, body: text, shows: answer.view };
  }

  #write(writer: string, method: string, body: string): ServerAnswer {
    const sent = parseObject(this.kind, body);
    // A PUT without a version replaces whatever there is.
    const over = sent.over ?? (method === "PUT" ? this.server.lock : undefined);
    if (method === "PUT" && !over) return { kind: "absent" };
    return this.server.write({ writer, ...sent, over });
  }

  status(code: number, reason: string, headers: Readonly<Record<string, string>> = {}): HttpAnswer {
    const { group, plural } = placeOf(this.kind);
    const message = `${plural} "${lockName}": ${reason}`;
    const details = { name: lockName, group, kind: plural };
    const body = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
    return { status: code, headers, body: JSON.stringify(body) };
  }

  /** The current state as a first line, for a watch without a version. */
  current(): WatchLine[] {
    const { lock } = this.server;
    return lock ? [this.#line("ADDED", lock)] : [];
  }

  /** The changes after a version. undefined: the server no longer has them. */
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
    return { type, revision: lock.revision, object: objectOf(this.kind, lock), shows: lock };
  }

  #deletion(revision: bigint): WatchLine {
    const object = objectOf(this.kind, this.#last as StoredLock, revision);
    return { type: "DELETED", revision, object, shows: "absent" };
  }
}
