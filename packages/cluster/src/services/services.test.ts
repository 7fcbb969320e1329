import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createPort } from "node:net";
import type { KubeClient } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PodNetwork } from "../node/network/pod-network.ts";
import { clientOf } from "../node/testing/node-rig.ts";
import { type RunningServices, startServices } from "./services.ts";

let sandbox: Sandbox;
let client: KubeClient;
let services: RunningServices;
const servers: Server[] = [];
/** The address of a service comes from its name. Another run of these tests on this machine uses other ones. */
const run = Math.random().toString(36).slice(2, 10);
beforeAll(async () => {
  sandbox = await startSandbox();
  client = clientOf(sandbox);
  services = startServices({ client });
  await services.ready;
});
afterAll(async () => {
  await services.stop();
  client.close();
  await sandbox.close();
  for (const server of servers) server.closeAllConnections();
  for (const server of servers) server.close();
});

/** A pod with this address answers with its name. */
async function serve(name: string, address: string, port = 0): Promise<number> {
  const server = createServer((request, response) => {
    if (request.url === "/slow") response.write("begun\n");
    else response.end(name);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, address.replace(/^10/, "127"), resolve));
  return (server.address() as AddressInfo).port;
}

const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const sliceOf = (name: string, port: number, addresses: string[]) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: `${name}-1`, labels: { "kubernetes.io/service-name": `${name}-${run}` } },
  addressType: "IPv4",
  ports: [{ name: "", port }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});

async function create(name: string, spec: object): Promise<string> {
  const created = await client.request<{ spec: { clusterIP: string } }>({
    method: "POST",
    path: "/api/v1/namespaces/default/services",
    body: { apiVersion: "v1", kind: "Service", metadata: { name: `${name}-${run}` }, spec },
  });
  return created.spec.clusterIP.replace(/^10/, "127");
}

const ask = (url: string) =>
  fetch(url, { headers: { Connection: "close" } }).then(
    (response) => response.text(),
    () => "refused",
  );

it("spreads connections over ready endpoints, follows changes, and refuses without any", async () => {
  const port = await serve("one", "10.244.200.2");
  await serve("two", "10.244.200.3", port);
  const host = await create("web", { ports: [{ port: 8099 }] });
  const url = `http://${host}:8099`;
  await expect.poll(() => ask(url)).toBe("refused");
  await client.request({
    method: "POST",
    path,
    body: sliceOf("web", port, ["10.244.200.2", "10.244.200.3"]),
  });
  await expect.poll(() => ask(url)).not.toBe("refused");
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask(url)));
  expect(new Set(answers)).toEqual(new Set(["one", "two"]));
  await client.request({
    method: "PUT",
    path: `${path}/web-1`,
    body: sliceOf("web", port, ["10.244.200.3"]),
  });
  await expect
    .poll(async () => new Set([await ask(url), await ask(url), await ask(url)]))
    .toEqual(new Set(["two"]));
});

it("a connection survives when its endpoint is not ready any more", async () => {
  const port = await serve("old", "10.244.200.4");
  const host = await create("lasting", { ports: [{ port: 8098 }] });
  await client.request({ method: "POST", path, body: sliceOf("lasting", port, ["10.244.200.4"]) });
  const url = `http://${host}:8098`;
  await expect.poll(() => ask(url)).toBe("old");
  const response = await fetch(`${url}/slow`);
  const reader = response.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? "").toString()).toBe("begun\n");
  await client.request({ method: "PUT", path: `${path}/lasting-1`, body: sliceOf("lasting", port, []) });
  await expect.poll(() => ask(url)).toBe("refused");
  const rest = reader?.read();
  servers.at(-1)?.closeAllConnections();
  // Only now, and not when the endpoint went away, does the connection end.
  await expect(rest).rejects.toThrow();
});

it("a dead endpoint that still counts as ready costs nobody a connection", async () => {
  const port = await serve("alive", "10.244.200.6");
  const host = await create("half", { ports: [{ port: 8097 }] });
  await client.request({
    method: "POST",
    path,
    body: sliceOf("half", port, ["10.244.200.5", "10.244.200.6"]),
  });
  await expect.poll(() => ask(`http://${host}:8097`)).toBe("alive");
  expect(await Promise.all([1, 2, 3, 4].map(() => ask(`http://${host}:8097`)))).toEqual(
    Array(4).fill("alive"),
  );
});

it("reaches the API server by its service", async () => {
  const response = await fetch(`http://127.96.0.1:443/`).catch((error: Error) => error);
  // It speaks TLS, so plain HTTP gets an answer that is none, but no refusal.
  expect(
    String(response instanceof Error ? (response.cause as Error).message : response.status),
  ).not.toContain("REFUSED");
});

it("pods with a network of their own reach a service whose address another cluster of this machine has", async () => {
  const port = await serve("own", "10.244.200.7");
  const host = await create("taken", { ports: [{ port: 8096 }] });
  await client.request({ method: "POST", path, body: sliceOf("taken", port, ["10.244.200.7"]) });
  // The first proxy listens there, as that of another cluster would.
  await expect.poll(() => ask(`http://${host}:8096`)).toBe("own");
  let connected: Parameters<PodNetwork["onConnection"]>[0] = () => {};
  const network = {
    has: () => false,
    serve: async () => {},
    onConnection: (listener: typeof connected) => {
      connected = listener;
    },
  } as unknown as PodNetwork;
  const second = startServices({ client, network });
  const pods = createPort({ allowHalfOpen: true, pauseOnConnect: true }, (socket) =>
    connected({ host: host.replace(/^127/, "10"), port: 8096, from: "10.244.9.9", socket }),
  );
  await new Promise<void>((resolve) => pods.listen(0, "127.0.0.1", resolve));
  try {
    await second.ready;
    const address = pods.address() as AddressInfo;
    expect(await ask(`http://127.0.0.1:${address.port}`)).toBe("own");
    // When the address becomes free, the machine reaches the service by the second cluster.
    await services.stop();
    expect(await ask(`http://${host}:8096`)).toBe("refused");
    await client.request({
      method: "PUT",
      path: `${path}/taken-1`,
      body: sliceOf("taken", port, ["10.244.200.7"]),
    });
    await create("other", { ports: [{ port: 8095 }] });
    await expect.poll(() => ask(`http://${host}:8096`)).toBe("own");
  } finally {
    pods.close();
    await second.stop();
  }
});
