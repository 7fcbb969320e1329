import { existsSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { ScriptedElection } from "@tenure/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type StatusServerOptions, startStatusServer } from "./server.ts";
import { ask, rawSocket } from "./testing/http.ts";
import { StatusRig } from "./testing/status-server.ts";

let rig: StatusRig;
let election: ScriptedElection;

beforeEach(async () => {
  rig = await StatusRig.make();
  ({ election } = rig);
});
afterEach(() => rig.end());

const start = (options: Partial<StatusServerOptions> = {}) => rig.start(options);

describe("clients that mean no good", () => {
  it("headers that are too large are refused, and the next one is served", async () => {
    const address = await start();
    const headers = { "x-bomb": "x".repeat(10_000) };
    expect((await ask(address, "/leader", { headers })).status).toBe(431);
    expect((await ask(address, "/leader")).status).toBe(200);
  });

  it("who sends a request too slowly is cut off", async () => {
    const socket = await rawSocket(await start());
    socket.write("GET /leader HTTP/1.1\r\nHost: x\r\n");
    await socket.ended;
    expect(socket.received).toMatch(/^HTTP\/1.1 408/);
  }, 15_000);

  it("more connections than there may be are refused, and those that go make room", async () => {
    const address = await start({ maxConnections: 2 });
    const first = await rawSocket(address);
    const second = await rawSocket(address);
    const third = await rawSocket(address);
    await third.ended;
    expect(third.received).toBe("");
    first.destroy();
    await first.ended;
    await expect
      .poll(() =>
        ask(address, "/leader")
          .then(({ status }) => status)
          .catch(() => 0),
      )
      .toBe(200);
    second.destroy();
  });

  it("garbage is answered with 400", async () => {
    const socket = await rawSocket(await start());
    socket.write("hello\r\n\r\n");
    await socket.ended;
    expect(socket.received).toMatch(/^HTTP\/1.1 400/);
  });
});

describe("where it listens", () => {
  it("an address that is taken is told, with the way out", async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port));
    });
    await expect(
      startStatusServer({ listen: `127.0.0.1:${port}`, source: { election } }),
    ).rejects.toMatchObject({
      code: "CannotListen",
      message: `Cannot serve the status on 127.0.0.1:${port}: something else listens there; stop that, or choose another address.`,
    });
    other.close();
    expect(election.listeners).toBe(0);
  });

  it(":0 is every interface", async () => {
    const address = await start({ listen: ":0" });
    expect(address).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    const { port } = new URL(address);
    expect((await ask(`http://127.0.0.1:${port}`, "/leader")).status).toBe(200);
  });

  it("a socket that nobody listens to any more is taken over, and is gone at the end", async () => {
    const path = join(rig.folder, "s");
    const { spawnSync } = await import("node:child_process");
    const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    spawnSync(process.execPath, ["-e", script]);
    expect(existsSync(path)).toBe(true);
    const address = await start({ listen: `unix:${path}` });
    expect((await ask(address, "/leader")).status).toBe(200);
    expect((await stat(path)).mode & 0o777).toBe(0o660);
    await rig.server?.close();
    expect(existsSync(path)).toBe(false);
  });

  it("a socket that somebody listens to, and a file that is none, are left alone", async () => {
    const path = join(rig.folder, "s");
    await start({ listen: `unix:${path}` });
    const again = startStatusServer({ listen: `unix:${path}`, source: { election } });
    await expect(again).rejects.toThrow("something else listens there");
    const file = join(rig.folder, "file");
    await writeFile(file, "precious");
    const onFile = startStatusServer({ listen: `unix:${file}`, source: { election } });
    await expect(onFile).rejects.toMatchObject({ code: "CannotListen" });
    expect((await stat(file)).size).toBe(8);
  });

  it("everything that is wrong with the options is told at once", async () => {
    const options = {
      listen: "8080",
      source: { election },
      readyMode: "child-ready",
      maxConnections: 0,
    } as const;
    await expect(startStatusServer(options)).rejects.toThrow(
      /listen must be :PORT.*; readyMode child-ready needs a child.*; maxConnections must be a whole number of 1 or more, but is 0/,
    );
  });

  it("closing lets go of the election and of everybody who is connected", async () => {
    const address = await start();
    const socket = await rawSocket(address);
    await rig.server?.close();
    await socket.ended;
    expect(election.listeners).toBe(0);
  });
});
