import { request } from "node:http";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { ScriptedElection } from "@tenure/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StatusServer, startStatusServer } from "./server.ts";
import { type Events, openEventStream, sendRequest } from "./testing/http.ts";

let election: ScriptedElection;
let clock: VirtualClock;
let server: StatusServer;
let phase: string;
let changed: () => void;

beforeEach(async () => {
  clock = new VirtualClock();
  election = new ScriptedElection({ clock });
  phase = "follower";
  server = await startStatusServer({
    listen: "127.0.0.1:0",
    clock,
    maxEventClients: 3,
    source: {
      election,
      phase: () => phase,
      onChange: (listener) => {
        changed = listener;
        return () => {};
      },
    },
  });
});
afterEach(() => server.close());

const open = (): Promise<Events> => openEventStream(server.address);

it("sends the state first, then every change, each with the whole state", async () => {
  election.follow("b");
  const events = await open();
  await events.until(1);
  expect([events.names[0], events.data[0]?.name]).toEqual(["state", "b"]);
  election.follow(undefined);
  election.win({ token: 9n });
  await events.until(3);
  expect(events.names).toEqual(["state", "leader-changed", "leader-changed"]);
  expect(events.data.map(({ name, isLeader }) => [name, isLeader])).toEqual([
    ["b", false],
    ["", false],
    ["a", true],
  ]);
  expect(events.data[2]?.token).toBe("9");
  phase = "leader";
  changed();
  await events.until(4);
  expect([events.names[3], events.data[3]?.phase]).toEqual(["phase", "leader"]);
  events.close();
});

it("reports at once that a leader is asked to stop, before the lease is released", async () => {
  const events = await open();
  election.win({ token: 7n, lastsMs: 9_000 });
  election.askToStop();
  await events.until(3);
  expect(events.names.slice(1)).toEqual(["leader-changed", "leader-changed"]);
  expect(events.data[2]).toMatchObject({ name: "", isLeader: false });
  events.close();
});

it.each([
  { leaseMs: 60_000, sent: 4 },
  { leaseMs: 8_000, sent: 10 },
])("sends $sent renewals in 20 s for a lease of $leaseMs ms", async ({ leaseMs, sent }) => {
  const events = await open();
  election.win({ lastsMs: leaseMs });
  for (let second = 0; second < 20; second++) {
    election.renew(leaseMs);
    await clock.pass(1_000);
  }
  await events.until(2 + sent);
  election.follow("b");
  await events.until(3 + sent);
  expect(events.names.filter((name) => name === "renewed")).toHaveLength(sent);
  events.close();
});

it("keeps a silent stream alive with comments", async () => {
  const events = await open();
  await events.until(1);
  await clock.pass(30_000);
  await expect.poll(() => events.comments.length).toBe(3);
  events.close();
  await expect.poll(() => clock.armed).toBe(0);
});

it("limits the number of clients, and accepts a new one after another disconnects", async () => {
  const streams = [await open(), await open(), await open()];
  const fourth = await sendRequest(server.address, "/events");
  expect([fourth.status, fourth.headers["retry-after"]]).toEqual([503, "5"]);
  streams[0]?.close();
  await expect
    .poll(async () => (await sendRequest(server.address, "/events", { method: "HEAD" })).status)
    .toBe(200);
  for (const stream of streams) stream.close();
});

it("disconnects a client that does not read, and sends every event to the others", async () => {
  const notReading = [1, 2].map(
    () =>
      new Promise<void>((resolve, reject) => {
        const sent = request(`${server.address}/events`, { agent: false }, (response) => {
          response.socket.pause();
          resolve();
        });
        sent.on("error", reject);
        sent.end();
      }),
  );
  await Promise.all(notReading);
  const events = await open();
  await events.until(1);
  const probe = () => sendRequest(server.address, "/events", { method: "HEAD" });
  expect((await probe()).status).toBe(503);
  const rounds = 60_000;
  for (let round = 0; round < rounds; round++) {
    election.follow(round % 2 === 0 ? "b".repeat(200) : undefined);
    // Lets the client that reads receive its events.
    if (round % 100 === 0) await settle();
  }
  await events.until(rounds + 1);
  expect((await probe()).status).toBe(200);
  events.close();
}, 60_000);

it("ends every stream when the server closes", async () => {
  const events = await open();
  await events.until(1);
  await server.close();
  await events.ended;
});
