/**
 * The gRPC health protocol (grpc.health.v1.Health/Check): one unary call over HTTP/2 without TLS. Passes if the answer is
 * SERVING. Written by hand, because one string and one number are not worth a dependency.
 */
import type { ClientHttp2Session } from "node:http2";

interface Target {
  readonly host: string;
  readonly port: number;
  readonly service: string;
}

const statusNames = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
const serving = 1;
/** The likely values of grpc-status, with their meaning. */
const callErrors: Readonly<Record<string, string>> = {
  "5": "the server does not know this service (NOT_FOUND)",
  "12": "the server does not offer grpc.health.v1.Health (UNIMPLEMENTED)",
};

export async function checkGrpc(target: Target, signal: AbortSignal): Promise<void> {
  // Loaded on demand: few supervisors need it.
  const { connect } = await import("node:http2");
  signal.throwIfAborted();
  const host = target.host.includes(":") ? `[${target.host}]` : target.host;
  const session = connect(`http://${host}:${target.port}`);
  try {
    const status = await call(session, target.service, signal);
    if (status !== serving) throw new Error(`the server answered ${statusNames[status] ?? status}`);
  } finally {
    session.destroy();
  }
}

function call(session: ClientHttp2Session, service: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    session.on("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const body: Buffer[] = [];
    let grpcStatus: string | undefined;
    let httpStatus: number | undefined;
    // An answer that has only headers has its status there.
    stream.on("response", (headers) => {
      httpStatus = headers[":status"];
      grpcStatus ??= headers["grpc-status"]?.toString();
    });
    stream.on("trailers", (trailers) => {
      grpcStatus = trailers["grpc-status"]?.toString();
    });
    stream.on("data", (chunk: Buffer) => body.push(chunk));
    stream.on("error", reject);
    stream.on("close", () => {
      signal.removeEventListener("abort", onAbort);
      if (grpcStatus === "0") resolve(servingStatus(Buffer.concat(body)));
      else if (grpcStatus)
        reject(new Error(callErrors[grpcStatus] ?? `the call failed with grpc-status ${grpcStatus}`));
      else reject(new Error(`no gRPC answer (HTTP status ${httpStatus ?? "none"})`));
    });
    stream.end(frame(requestFor(service)));
  });
}

/** message HealthCheckRequest { string service = 1; } */
export function requestFor(service: string): Buffer {
  const text = Buffer.from(service);
  return text.length === 0 ? text : Buffer.concat([Buffer.of(0x0a), varint(text.length), text]);
}

/** Puts the header before a message: one byte for "not compressed", four for the length. */
export function frame(message: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

/** The status in a framed message HealthCheckResponse { ServingStatus status = 1; }. A field that is missing is 0. */
export function servingStatus(framed: Buffer): number {
  if (framed.length < 5 || framed[0] !== 0) throw new Error("the answer is not a plain gRPC message");
  const message = framed.subarray(5, 5 + framed.readUInt32BE(1));
  for (let at = 0; at < message.length; ) {
    const [key, afterKey] = readVarint(message, at);
    const [value, afterValue] = readVarint(message, afterKey);
    const wireType = key & 7;
    if (key === 0x08) return value;
    // Skips fields of later versions of the protocol.
    at = wireType === 0 ? afterValue : wireType === 2 ? afterValue + value : message.length;
  }
  return 0;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

function readVarint(bytes: Buffer, from: number): [value: number, next: number] {
  let value = 0;
  let at = from;
  for (let shift = 0; at < bytes.length; shift += 7) {
    const byte = bytes[at++] as number;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  return [value, at];
}
