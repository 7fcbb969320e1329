import { request } from "node:http";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { ScriptedElection } from "@tenure/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type StatusServer, startStatusServer } from "./server.ts";
import { ask, type Events, listenTo } from "./testing/http.ts";

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

const open = (): Promise<Events> => listenTo(server.address);

it("the state comes first, then every change, with the whole state each time", async () => {
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

it("a leader that is asked to stop is told of at once, before the lease is gone", async () => {
  const events = await open();
  election.win({ token: 7n, lastsMs: 9_000 });
  election.askToStop();
  await events.until(3);
  expect(events.names.slice(1)).toEqual(["leader-changed", "leader-changed"]);
  expect(events.data[2]).toMatchObject({ name: "", isLeader: false });
  events.close();
});

it.each([
  { leaseMs: 60_000, told: 4 },
  { leaseMs: 8_000, told: 10 },
])(
  "renewals are told often enough, and not each of them: $told in 20 s of $leaseMs ms",
  async ({ leaseMs, told }) => {
    const events = await open();
    election.win({ lastsMs: leaseMs });
    for (let second = 0; second < 20; second++) {
      election.renew(leaseMs);
      await clock.pass(1_000);
    }
    await events.until(2 + told);
    election.follow("b");
    await events.until(3 + told);
    expect(events.names.filter((name) => name === "renewed")).toHaveLength(told);
    events.close();
  },
);

it("a silent stream is kept alive by comments", async () => {
  const events = await open();
  await events.until(1);
  await clock.pass(30_000);
  await expect.poll(() => events.comments.length).toBe(3);
  events.close();
  await expect.poll(() => clock.armed).toBe(0);
});

it("so many may listen and no more; one that goes makes room", async () => {
  const streams = [await open(), await open(), await open()];
  const fourth = await ask(server.address, "/events");
  expect([fourth.status, fourth.headers["retry-after"]]).toEqual([503, "5"]);
  streams[0]?.close();
  await expect.poll(async () => (await ask(server.address, "/events", { method: "HEAD" })).status).toBe(200);
  for (const stream of streams) stream.close();
});

it("one that does not read is cut off, and the others hear everything", async () => {
  const deaf = [1, 2].map(
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
  await Promise.all(deaf);
  const events = await open();
  await events.until(1);
  const probe = () => ask(server.address, "/events", { method: "HEAD" });
  expect((await probe()).status).toBe(503);
  const rounds = 60_000;
  for (let round = 0; round < rounds; round++) {
    election.follow(round % 2 === 0 ? "b".repeat(200) : undefined);
    // For those who do read.
    if (round % 100 === 0) await settle();
  }
  await events.until(rounds + 1);
  expect((await probe()).status).toBe(200);
  events.close();
}, 60_000);

it("the end of the server ends every stream", async () => {
  const events = await open();
  await events.until(1);
  await server.close();
  await events.ended;
});
