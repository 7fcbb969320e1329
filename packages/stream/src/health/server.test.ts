/** The health server, called by a client of grpc-js. */
import {
  type ClientReadableStream,
  credentials,
  makeClientConstructor,
  type ServiceError,
} from "@grpc/grpc-js";
import { Emitter } from "@tenure/base";
import { afterEach, describe, expect, it } from "vitest";
import type { StreamHealth } from "../events.ts";
import type { HealthResponse, ServingStatus } from "./codec.ts";
import { type HealthServer, healthService, startHealthServer } from "./server.ts";

const HealthClient = makeClientConstructor(healthService, "Health");

class Source {
  readonly #events = new Emitter<{ health: StreamHealth }>(() => {});
  #health: StreamHealth = { healthy: true, ready: false, message: "" };
  listeners = 0;

  health(): StreamHealth {
    return this.#health;
  }

  on(name: "health", listener: (health: StreamHealth) => void): () => void {
    this.listeners++;
    const off = this.#events.on(name, listener);
    return () => {
      this.listeners--;
      off();
    };
  }

  become(health: Partial<StreamHealth>): void {
    this.#health = { ...this.#health, ...health };
    this.#events.emit("health", this.#health);
  }
}

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function setUp() {
  const source = new Source();
  const server: HealthServer = await startHealthServer({ source });
  // biome-ignore lint/suspicious/noExplicitAny: clients made at run time have no types.
  const client: any = new HealthClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
  opened.push(
    () => client.close(),
    () => server.close(),
  );
  const check = (service: string) =>
    new Promise<ServingStatus>((resolve, reject) =>
      client.check({ service }, (error: ServiceError | null, reply: HealthResponse) =>
        error ? reject(error) : resolve(reply.status),
      ),
    );
  return { source, server, client, check };
}

describe("startHealthServer", () => {
  it("reports health and readiness", async () => {
    const { source, check } = await setUp();
    expect(await check("")).toBe(1);
    expect(await check("ready")).toBe(2);
    source.become({ healthy: false, ready: true });
    expect(await check("")).toBe(2);
    expect(await check("ready")).toBe(1);
  });

  it("responds NOT_FOUND for other services", async () => {
    const { check } = await setUp();
    await expect(check("orders")).rejects.toMatchObject({
      code: 5,
      details: 'There is no service "orders".',
    });
  });

  it("sends each change once to a watcher, and removes a watcher that leaves", async () => {
    const { source, client } = await setUp();
    const watch: ClientReadableStream<HealthResponse> = client.watch({ service: "ready" });
    const statuses: ServingStatus[] = [];
    const received = (count: number) =>
      new Promise<void>((resolve) => {
        const check = () => (statuses.length >= count ? resolve() : undefined);
        watch.on("data", check);
        check();
      });
    watch.on("data", ({ status }) => statuses.push(status));
    watch.on("error", () => {});
    await received(1);
    source.become({ message: "nothing new" });
    source.become({ ready: true });
    await received(2);
    source.become({ ready: false });
    await received(3);
    expect(statuses).toEqual([2, 1, 2]);
    expect(source.listeners).toBe(1);
    watch.cancel();
    while (source.listeners > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it("sends SERVICE_UNKNOWN to a watcher of another service", async () => {
    const { client } = await setUp();
    const watch: ClientReadableStream<HealthResponse> = client.watch({ service: "orders" });
    watch.on("error", () => {});
    const reply = await new Promise((resolve) => watch.once("data", resolve));
    expect(reply).toEqual({ status: 3 });
  });

  it("rejects with the reason if it cannot listen", async () => {
    const { server } = await setUp();
    const again = startHealthServer({ source: new Source(), listen: `127.0.0.1:${server.port}` });
    await expect(again).rejects.toMatchObject({ code: "CannotListen" });
    await expect(again).rejects.toThrow(`Cannot serve health on 127.0.0.1:${server.port}`);
  });
});
