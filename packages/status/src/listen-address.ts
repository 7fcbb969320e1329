/** Where to listen, as people write it: `:8080`, `127.0.0.1:8080`, `[::1]:8080`, `unix:/run/tenure.sock`. */

export type ListenAddress =
  /** Without a host: every interface, as `:8080` means in Go. */
  | { readonly kind: "tcp"; readonly host: string | undefined; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** The longest path that a socket may have on Linux. */
const longestSocketPath = 107;

/** The address, or a sentence about what is wrong with it. */
export function parseListenAddress(text: string): ListenAddress | string {
  if (text.startsWith("unix:")) {
    const path = text.slice("unix:".length);
    if (path === "") return `must name a socket behind unix: such as unix:/run/tenure.sock: ${quote(text)}`;
    if (Buffer.byteLength(path) > longestSocketPath)
      return `must be a socket's path of at most ${longestSocketPath} bytes: ${quote(text)}`;
    return { kind: "unix", path };
  }
  const [, bracketed, plain = "", digits = ""] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d+)$/.exec(text) ?? [];
  if (digits === "") {
    const hint = /^\d+$/.test(text)
      ? `; write :${text} for every interface, or 127.0.0.1:${text} for this machine only`
      : "";
    return `must be :PORT, HOST:PORT or unix:PATH${hint}: ${quote(text)}`;
  }
  const port = Number(digits);
  if (port > 65_535) return `must have a port from 0 to 65535: ${quote(text)}`;
  return { kind: "tcp", host: (bracketed ?? plain) || undefined, port };
}

function quote(text: string): string {
  return JSON.stringify(text);
}
