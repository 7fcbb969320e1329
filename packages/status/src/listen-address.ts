/** Where to listen, as people write it: `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `unix:/run/tenure.sock`. */
import { type Checked, type Problem, quote } from "@tenure/base";

export type ListenAddress =
  /** Without a host it listens on every interface, as `:8080` does in Go. */
  | { readonly kind: "tcp"; readonly host: string | undefined; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** The longest path of a Unix socket on Linux. */
const longestSocketPath = 107;

export function parseListenAddress(text: string): Checked<ListenAddress> {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length);
    if (path === "") return invalid(text, "must have a path after unix:, like unix:/run/tenure.sock");
    if (Buffer.byteLength(path) > longestSocketPath)
      return invalid(text, `must have a socket path of at most ${longestSocketPath} bytes`);
    return { value: { kind: "unix", path }, problems: [] };
  }
  const [, bracketed, plain = "", digits = ""] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d+)$/.exec(text) ?? [];
  if (digits === "") {
    const isPort = /^\d+$/.test(text);
    const fix = `write :${text} for every interface, or 127.0.0.1:${text} for this machine only`;
    return invalid(text, "must be :PORT, HOST:PORT or unix:PATH", isPort ? { fix } : {});
  }
  const port = Number(digits);
  if (port > 65_535) return invalid(text, "must have a port from 0 to 65535");
  return { value: { kind: "tcp", host: (bracketed ?? plain) || undefined, port }, problems: [] };
}

function invalid(text: string, rule: string, more: Pick<Problem, "fix"> = {}): Checked<ListenAddress> {
  return { value: undefined, problems: [{ field: "listen", rule, value: quote(text), ...more }] };
}
