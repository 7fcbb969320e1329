/**
 * Serves the consumer's health as grpc.health.v1, for `tenure run --health grpc://127.0.0.1:PORT` and for gRPC probes of
 * Kubernetes. The service "" reports `healthy`; the service "ready" reports whether messages can arrive.
 */
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { StreamError } from "../errors.ts";
import type { StreamHealth } from "../events.ts";
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  type HealthRequest,
  type HealthResponse,
  type ServingStatus,
  servingStatus,
} from "./codec.ts";

/** Usually a StreamConsumer. */
export interface HealthSource {
  health(): StreamHealth;
  on(name: "health", listener: (health: StreamHealth) => void): () => void;
}

export interface HealthServerOptions {
  readonly source: HealthSource;
  /** host:port. Port 0 uses a free port. @default "127.0.0.1:0" */
  readonly listen?: string;
}

export interface HealthServer {
  readonly port: number;
  close(): void;
}

const method = {
  requestSerialize: encodeRequest,
  requestDeserialize: decodeRequest,
  responseSerialize: encodeResponse,
  responseDeserialize: decodeResponse,
  requestStream: false,
} as const;

/** The service definition of grpc-js, for servers and clients. */
export const healthService = {
  check: { ...method, path: "/grpc.health.v1.Health/Check", responseStream: false },
  watch: { ...method, path: "/grpc.health.v1.Health/Watch", responseStream: true },
} satisfies ServiceDefinition;

export async function startHealthServer({
  source,
  listen = "127.0.0.1:0",
}: HealthServerOptions): Promise<HealthServer> {
  const server = new Server();
  server.addService(healthService, {
    check(call: ServerUnaryCall<HealthRequest, HealthResponse>, callback: sendUnaryData<HealthResponse>) {
      const { service } = call.request;
      const found = statusOf(service, source.health());
      if (found === servingStatus.serviceUnknown) {
        callback({ code: status.NOT_FOUND, details: `There is no service ${JSON.stringify(service)}.` });
      } else {
        callback(null, { status: found });
      }
    },
    watch(call: ServerWritableStream<HealthRequest, HealthResponse>) {
      let last: ServingStatus | undefined;
      const sendIfChanged = (health: StreamHealth) => {
        const found = statusOf(call.request.service, health);
        if (found === last) return;
        last = found;
        call.write({ status: found });
      };
      const off = source.on("health", sendIfChanged);
      for (const end of ["cancelled", "close", "error", "finish"]) call.on(end, off);
      sendIfChanged(source.health());
    },
  });
  const port = await bind(server, listen);
  return { port, close: () => server.forceShutdown() };
}

function bind(server: Server, listen: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(listen, ServerCredentials.createInsecure(), (error, port) => {
      if (!error) {
        resolve(port);
        return;
      }
      server.forceShutdown();
      reject(
        new StreamError("CannotListen", `Cannot serve health on ${listen}: ${error.message}`, {
          cause: error,
        }),
      );
    });
  });
}

function statusOf(service: string, health: StreamHealth): ServingStatus {
  if (service !== "" && service !== "ready") return servingStatus.serviceUnknown;
  return (service === "" ? health.healthy : health.ready) ? servingStatus.serving : servingStatus.notServing;
}
