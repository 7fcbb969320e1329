/** What can be asked of a child from outside. */
export type Check =
  | { readonly kind: "http"; readonly url: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "grpc"; readonly host: string; readonly port: number; readonly service: string }
  | { readonly kind: "exec"; readonly argv: readonly string[] };

/** How a child says that it is ready. */
export type Ready =
  | { readonly kind: "spawn" }
  /** It writes a newline to this file descriptor, as programs under s6 do. */
  | { readonly kind: "fd"; readonly fd: number }
  /** It sends the message "ready" (`process.send("ready")` in Node). */
  | { readonly kind: "ipc" }
  /** A line of its output matches. */
  | { readonly kind: "log"; readonly pattern: RegExp }
  /** This file appears, or changes if it was there before the start. */
  | { readonly kind: "file"; readonly path: string }
  | Check;
