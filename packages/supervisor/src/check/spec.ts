/** A check of the child from outside. */
export type Check =
  | {
      readonly kind: "http";
      readonly url: string;
      /** Sent with the request. @default none */
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "grpc"; readonly host: string; readonly port: number; readonly service: string }
  | { readonly kind: "exec"; readonly argv: readonly string[] };

/** How a child reports that it is ready. */
export type Ready =
  | { readonly kind: "spawn" }
  /** The child writes a newline to this file descriptor, as programs under s6 do. */
  | { readonly kind: "fd"; readonly fd: number }
  /** The child sends the message "ready" (`process.send("ready")` in Node). */
  | { readonly kind: "ipc" }
  /** A line of the child's output matches. */
  | { readonly kind: "log"; readonly pattern: RegExp }
  /** This file appears, or changes if it existed before the start. */
  | { readonly kind: "file"; readonly path: string }
  | Check;

export interface CheckContext {
  /** The environment of an exec check. It carries the marker of the child's process tree. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
}
