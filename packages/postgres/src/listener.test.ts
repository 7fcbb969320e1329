import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { type ListenerParts, listen, NoNotifications } from "./listener.ts";
import { type FakeSession, fakeServers } from "./testing/fake-session.ts";

/** Listens to a server. `deliver` decides whether a notification reaches the listener. */
function start(deliver: () => boolean) {
  const clock = new VirtualClock();
  const log: string[] = [];
  let checkFails = false;
  const servers = fakeServers({
    server: (text, values) => {
      if (text === "channel") return [{ channel: "tenure_1" }];
      if (text === "SELECT 1" && checkFails) return new Error("no answer");
      if (text.includes("pg_notify") && deliver()) listener()?.onNotification?.(String(values[1]));
      return [];
    },
  });
  const listener = (): FakeSession | undefined =>
    servers.opened.map(({ session }) => session).findLast(({ onNotification }) => onNotification);
  const parts: ListenerParts = {
    urls: ["server"],
    open: servers.open,
    channelSql: "channel",
    name: "x",
    clock,
    random: () => 0.5,
    onUp: () => log.push("up"),
    onPayload: (payload) => log.push(payload),
    onDown: (error) => log.push(error instanceof NoNotifications ? "no notifications" : `down: ${error}`),
  };
  const ending = new AbortController();
  const ended = listen(parts, ending.signal);
  const stop = async () => {
    ending.abort();
    await ended;
    expect(servers.opened.every(({ session }) => session.isClosed)).toBe(true);
  };
  const failChecks = () => {
    checkFails = true;
  };
  return { clock, log, listener, servers, stop, failChecks };
}

it("is up when a test notification has arrived, and then passes notifications on", async () => {
  const { clock, log, listener, stop } = start(() => true);
  await clock.pass(10);
  listener()?.onNotification?.("news");
  expect(log).toEqual(["up", "news"]);
  await stop();
});

it("is never up if the test notification does not arrive, and tries again after minutes", async () => {
  let arrives = false;
  const { clock, log, stop } = start(() => arrives);
  await clock.pass(2_900);
  expect(log).toEqual([]);
  await clock.pass(200);
  expect(log).toEqual(["no notifications"]);
  await clock.pass(60_000);
  expect(log).toEqual(["no notifications"]);
  arrives = true;
  await clock.pass(300_000);
  expect(log).toEqual(["no notifications", "up"]);
  await stop();
});

it("reconnects when the connection ends, and reports that there was a gap", async () => {
  const { clock, log, listener, stop } = start(() => true);
  await clock.pass(10);
  listener()?.onClose?.(new Error("terminated"));
  await clock.pass(1_000);
  expect(log).toEqual(["up", "down: Error: terminated", "up"]);
  await stop();
});

it("checks a connection that is silent, and reconnects if there is no answer", async () => {
  const { clock, log, stop, failChecks } = start(() => true);
  await clock.pass(100_000);
  expect(log).toEqual(["up"]);
  failChecks();
  await clock.pass(31_000);
  expect(log).toEqual(["up", "down: Error: no answer", "up"]);
  await stop();
});
