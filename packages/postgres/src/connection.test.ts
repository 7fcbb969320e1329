import { expect, it } from "vitest";
import { Connection } from "./connection.ts";
import { ReadOnlyServer, RequestAborted } from "./server-error.ts";
import { fakeServers } from "./testing/fake-session.ts";

const { signal } = new AbortController();
const refused = new Error("refused");
const standby = new ReadOnlyServer("the server is read-only");

it("uses the first server that accepts writes, and keeps its session", async () => {
  const { open, opened } = fakeServers({ a: refused, b: standby, c: () => [{ x: 1 }] });
  const connection = new Connection(["a", "b", "c"], open);
  expect(await connection.query("one", [], signal)).toEqual([{ x: 1 }]);
  await connection.query("two", [], signal);
  expect(opened.map(({ url }) => url)).toEqual(["c"]);
  expect(connection.role).toBe("worker");
});

it("opens a new session after a failed query and after the server closed the last one", async () => {
  let fails = true;
  const { open, opened } = fakeServers({ a: () => (fails ? new Error("broken") : []) });
  const connection = new Connection(["a"], open);
  await expect(connection.query("x", [], signal)).rejects.toThrow("broken");
  expect(opened[0]?.session.isClosed).toBe(true);
  fails = false;
  await connection.query("x", [], signal);
  opened[1]?.session.close();
  await connection.query("x", [], signal);
  expect(opened).toHaveLength(3);
});

it("closes an idle session, but not under a query", async () => {
  const { open, opened } = fakeServers({ a: (text) => (text === "slow" ? "hang" : []) });
  const connection = new Connection(["a"], open);
  const limit = new AbortController();
  const slow = connection.query("slow", [], limit.signal);
  await expect.poll(() => opened.length).toBe(1);
  connection.closeIfIdle();
  expect(opened[0]?.session.isClosed).toBe(false);
  limit.abort();
  await expect(slow).rejects.toThrow("aborted");
  await connection.query("x", [], signal);
  connection.closeIfIdle();
  expect(opened[1]?.session.isClosed).toBe(true);
});

it("reports why a server failed rather than that another one is a standby", async () => {
  const { open } = fakeServers({ a: standby, b: refused });
  await expect(new Connection(["a", "b"], open).query("x", [], signal)).rejects.toThrow("refused");
  const { open: onlyStandby } = fakeServers({ a: standby });
  await expect(new Connection(["a"], onlyStandby).query("x", [], signal)).rejects.toThrow(ReadOnlyServer);
});

it("tries another server first after one that did not answer in time", async () => {
  const { open, opened } = fakeServers({ a: new RequestAborted("too late"), b: () => [] });
  const connection = new Connection(["a", "b"], open);
  await expect(connection.query("x", [], signal)).rejects.toThrow("too late");
  await connection.query("x", [], signal);
  expect(opened.map(({ url }) => url)).toEqual(["b"]);
});
