import { expect, it } from "vitest";
import { portsFrom } from "./service-ports.ts";

const two = {
  ports: [
    { name: "http", port: 80, targetPort: "web" },
    { name: "dns", port: 53 },
  ],
};

it("takes a number for each port that has a name, and leaves the others as the Service says", () => {
  expect(portsFrom(two, { http: 8080 }, "Service x/y")).toEqual([
    { name: "http", port: 8080, protocol: "TCP" },
    { name: "dns", port: 53, protocol: "TCP" },
  ]);
});

it("names everything that is wrong", () => {
  expect(() => portsFrom(two, { grpc: 1 }, "Service x/y")).toThrow(
    'Cannot tell the ports of the leader from the Service x/y: its port http goes to the container port named "web": give the number, http=NUMBER; it has no port "grpc", only http, dns.',
  );
});

it("one number alone is for a Service with one port", () => {
  expect(() => portsFrom(two, 8080, "Service x/y")).toThrow(
    "it has 2 ports, so that 8080 alone does not say for which: give NAME=8080",
  );
});
