import { afterAll, beforeAll, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";
import { send } from "../testing/client.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.close());

const path = "/api/v1/namespaces/default/services";
const create = (name: string, spec: object) =>
  send(sandbox, "POST", path, {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });

it("gives every service its own address, also when they are created at once", async () => {
  // These two names have the same hash, from which the address is derived.
  const replies = await Promise.all(["service-11", "service-1650"].map((name) => create(name, {})));
  const [one, two] = replies.map(({ body }) => body.spec.clusterIP as string);
  expect(one).toMatch(/^10\.96\.\d+\.\d+$/);
  expect(Math.abs(Number(two?.split(".")[3]) - Number(one?.split(".")[3]))).toBe(1);
});

it("rejects an address that is in use", async () => {
  await create("first", { clusterIP: "10.96.200.200" });
  const { status, body } = await create("second", { clusterIP: "10.96.200.200" });
  expect(status).toBe(422);
  expect(body.message).toContain("provided IP is already allocated");
});

it("gives a node port to each port that needs one, and keeps it", async () => {
  const { body } = await create("ports", {
    type: "NodePort",
    ports: [
      { name: "a", port: 1 },
      { name: "b", port: 2 },
    ],
  });
  const ports = body.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort);
  expect(new Set(ports).size).toBe(2);
  expect(ports.every((port: number) => port >= 30_000 && port <= 32_767)).toBe(true);
  const again = await send(sandbox, "PUT", `${path}/ports`, body);
  expect(again.body.spec.ports).toEqual(body.spec.ports);
  const taken = await create("taken", { type: "NodePort", ports: [{ port: 1, nodePort: ports[0] }] });
  expect(taken.body.message).toContain("provided port is already allocated");
});
