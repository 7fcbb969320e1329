/** What the API serves at a path: one lock object, or a collection of other objects. */

export interface HttpRequest {
  readonly writer: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WatchLine {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly revision: bigint;
  readonly object: object;
}

export interface StatusOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly causes?: readonly object[];
}

export interface Endpoint {
  handle(request: HttpRequest): HttpAnswer;
  /** An answer that tells of a failure, as an API server writes it. */
  status(code: number, reason: string, options?: StatusOptions): HttpAnswer;
  /** The changes that a watch with this path reports. */
  changes(path: string): Changes;
}

export interface Changes {
  /** The current state as first lines, for a watch without a version. */
  current(): readonly WatchLine[];
  /** The changes after a version. undefined: the server no longer has them. */
  since(revision: bigint): readonly WatchLine[] | undefined;
  forgetHistory(): void;
  subscribe(watcher: (line: WatchLine | "restored") => void): () => void;
}

/** The server forgets older changes. A watch that asks for them is answered with 410. */
export const mostLines = 12;

/** The object that a failure is about, as in the details of a Status. */
export interface Subject {
  readonly name: string;
  readonly group: string;
  readonly plural: string;
}

export function statusAnswer(
  { name, group, plural }: Subject,
  code: number,
  reason: string,
  { headers = {}, causes }: StatusOptions = {},
): HttpAnswer {
  const message = `${plural} "${name}": ${reason}`;
  const details = { name, group, kind: plural, causes };
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
  return { status: code, headers, body: JSON.stringify(body) };
}
