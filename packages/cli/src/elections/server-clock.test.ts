import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { ServerClock } from "./server-clock.ts";

const date = (ms: number) => new Date(ms).toUTCString();
const noonMs = Date.UTC(2030, 0, 1, 12);

it("knows nothing before the first response", () => {
  const clock = new ServerClock(() => noonMs);
  clock.saw(undefined, noonMs, noonMs);
  clock.saw("yesterday", noonMs, noonMs);
  expect(clock.time()).toBeUndefined();
});

it("assumes that clocks agree if they may", () => {
  const clock = new ServerClock(() => noonMs + 400);
  clock.saw(date(noonMs), noonMs + 300, noonMs + 400);
  expect(clock.time()).toEqual({ nowMs: noonMs + 400, offsetMs: 0, uncertaintyMs: 700 });
});

it("measures a clock that is an hour off to within a second, and better with every response", () => {
  const hourMs = 3_600_000;
  let localMs = noonMs;
  const clock = new ServerClock(() => localMs);
  const seen: number[] = [];
  for (const [atMs, tookMs] of [
    [0, 20],
    [990, 20],
    [1_300, 5],
    [1_995, 4],
  ] as const) {
    localMs = noonMs + atMs + tookMs;
    // The header has the server's time of the response, in whole seconds.
    const serverMs = noonMs + atMs + tookMs / 2 + hourMs;
    clock.saw(date(Math.floor(serverMs / 1_000) * 1_000), noonMs + atMs, localMs);
    const { offsetMs = 0, uncertaintyMs = 0 } = clock.time() ?? {};
    expect(Math.abs(offsetMs - hourMs)).toBeLessThanOrEqual(uncertaintyMs);
    seen.push(uncertaintyMs);
  }
  expect(seen[0]).toBeLessThanOrEqual(1_020);
  expect(seen.at(-1)).toBeLessThan(30);
});

it("starts again when a clock is set", () => {
  const clock = new ServerClock(() => noonMs);
  clock.saw(date(noonMs), noonMs, noonMs);
  clock.saw(date(noonMs + 60_000), noonMs, noonMs);
  expect(clock.time()?.offsetMs).toBe(60_000);
});

it("learns only from responses that arrive while it listens", async () => {
  const server = createServer((_request, response) => {
    response.setHeader("Date", date(noonMs)).end("x");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      get({ port, agent: false }, (response) => response.resume().on("end", resolve)).on("error", reject);
    });
  const clock = new ServerClock(() => noonMs - 90_000);
  await ask();
  expect(clock.time()).toBeUndefined();
  await clock.during(ask);
  expect(clock.time()?.offsetMs).toBe(90_000);
  server.close();
});
