import { expect, it } from "vitest";
import { portsFrom } from "./service-ports.ts";

const two = {
  ports: [
    { name: "http", port: 80, targetPort: "web" },
    { name: "dns", port: 53 },
  ],
};

it("uses the given number of a named target port, and the numbers of the Service for the others", () => {
  expect(portsFrom(two, { http: 8080 }, "Service x/y")).toEqual([
    { name: "http", port: 8080, protocol: "TCP" },
    { name: "dns", port: 53, protocol: "TCP" },
  ]);
});

it("reports all problems together", () => {
  expect(() => portsFrom(two, { grpc: 1 }, "Service x/y")).toThrow(
    'Cannot derive the ports of the leader from the Service x/y: port http targets the named container port "web"; give its number as http=NUMBER; it has no port "grpc", only http, dns.',
  );
});

it("rejects a single number for a Service with two ports", () => {
  expect(() => portsFrom(two, 8080, "Service x/y")).toThrow(
    "it has 2 ports, so 8080 alone is ambiguous; give NAME=8080",
  );
});
