import type { GivenPorts } from "@tenure/traffic";

/** `8080`, or `http=8080,grpc=9090`. */
export function parsePorts(text: string): GivenPorts | undefined {
  const number = (digits: string) =>
    /^\d{1,5}$/.test(digits) && Number(digits) > 0 && Number(digits) <= 65_535 ? Number(digits) : undefined;
  if (!text.includes("=")) return number(text);
  const ports: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [, name = "", digits = ""] = /^([^=]+)=([^=]+)$/.exec(part) ?? [];
    const port = number(digits);
    if (port === undefined) return undefined;
    ports[name] = port;
  }
  return ports;
}
