import { status } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { failureFromError, isTokenExpired, RequestAborted } from "./server-error.ts";

const place = { server: "etcd a:2379", key: "/tenure/x" };
const grpcError = (code: number, details: string) =>
  Object.assign(new Error(`${code} X: ${details}`), { code, details });

it.each([
  [
    grpcError(status.PERMISSION_DENIED, "etcdserver: permission denied"),
    "denied",
    "role grant-permission ROLE readwrite /tenure/x",
  ],
  [
    grpcError(status.INVALID_ARGUMENT, "etcdserver: user name is empty"),
    "denied",
    "Check user name and password",
  ],
  [
    grpcError(status.UNAUTHENTICATED, "etcdserver: invalid auth token"),
    "denied",
    "Check user name and password",
  ],
  [grpcError(status.UNAVAILABLE, "etcdserver: no leader"), "unreachable", "A majority of the members"],
  [grpcError(status.UNAVAILABLE, "connect ECONNREFUSED"), "unreachable", "connect ECONNREFUSED"],
  [grpcError(status.DEADLINE_EXCEEDED, "Deadline exceeded"), "timeout", "Deadline exceeded"],
  [
    grpcError(status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded"),
    "server",
    "alarm disarm",
  ],
  [grpcError(status.RESOURCE_EXHAUSTED, "etcdserver: too many requests"), "throttled", "too many requests"],
  [grpcError(status.INTERNAL, "oops"), "server", "oops"],
  [new RequestAborted("no answer arrived in time"), "timeout", "no answer arrived in time"],
  [new Error("socket"), "unreachable", "socket"],
])("%s", (error, kind, text) => {
  const failure = failureFromError(error, "read the lock x", place);
  expect(failure.kind).toBe(kind);
  expect(failure.message).toMatch(/^Cannot read the lock x in etcd a:2379: /);
  expect(failure.message).toContain(text);
});

it("a token that expired is told from rights that are missing", () => {
  expect(isTokenExpired(grpcError(status.UNAUTHENTICATED, "etcdserver: invalid auth token"))).toBe(true);
  expect(
    isTokenExpired(grpcError(status.INVALID_ARGUMENT, "etcdserver: revision of auth store is old")),
  ).toBe(true);
  expect(isTokenExpired(grpcError(status.PERMISSION_DENIED, "etcdserver: permission denied"))).toBe(false);
});
