import type { ServiceError } from "@grpc/grpc-js";

/** An error as the gRPC client reports it. @param code one of `status` */
export function grpcError(code: number, details: string): ServiceError {
  return Object.assign(new Error(`${code}: ${details}`), { code, details }) as unknown as ServiceError;
}
