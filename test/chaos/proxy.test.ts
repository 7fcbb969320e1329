import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { freePorts } from "../kube/ports.mjs";
import { TcpProxy } from "./proxy.mjs";

/** A server that sends its name to everybody who connects. */
async function serverNamed(name: string) {
  const server = createServer((socket) => socket.end(name));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
}

it("sends successive connections to different servers", async () => {
  const proxy = new TcpProxy(await serverNamed("a"), await serverNamed("b"));
  const [port = 0] = await freePorts(1);
  await proxy.listen(port);
  onTestFinished(() => proxy.close());
  const nameOfNext = async () => String((await once(connect(port, "127.0.0.1"), "data"))[0]);
  const names = [await nameOfNext(), await nameOfNext(), await nameOfNext()];
  expect([
    ["a", "b", "a"],
    ["b", "a", "b"],
  ]).toContainEqual(names);
});
