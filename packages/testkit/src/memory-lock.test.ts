import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import type { Answer } from "@tenure/election";
import { describe, expect, it } from "vitest";
import { type Fault, MemoryServer, recordOf } from "./memory-lock.ts";

const { signal } = new AbortController();

function newServer() {
  const clock = new VirtualClock();
  const server = new MemoryServer(clock);
  const lock = server.link();
  /** The answer to a request after enough virtual time; undefined if there is none. */
  const answerOf = async (request: Promise<Answer>) => {
    let answer: Answer | undefined;
    request.then((value) => (answer = value));
    await clock.pass(lock.latencyMs);
    await settle();
    return answer;
  };
  return { clock, server, lock, answerOf };
}

describe("MemoryServer", () => {
  it("performs a write only if the lock is what was read", async () => {
    const { server } = newServer();
    expect(server.write(recordOf("b"), server.put(recordOf("a")))).toMatchObject({ kind: "found" });
    const outdated = server.view;
    server.put(recordOf("c"));
    expect(server.write(recordOf("b"), outdated)).toEqual({ kind: "conflict" });
    expect(server.write(recordOf("b"), undefined)).toEqual({ kind: "conflict" });
    server.delete();
    expect(server.write(recordOf("b"), outdated)).toEqual({ kind: "absent" });
    expect(server.holder).toBeUndefined();
  });

  it("never repeats a revision, even if the lock is deleted and created again", () => {
    const { server } = newServer();
    const first = server.put(recordOf("a"));
    server.delete();
    const second = server.put(recordOf("a"));
    expect(second.revision).toBeGreaterThan(first.revision);
    expect(second.uid).not.toBe(first.uid);
  });

  it("logs every change", () => {
    const { server } = newServer();
    for (const holder of ["a", "a", "b", ""]) server.put(recordOf(holder));
    server.delete();
    expect(server.log).toEqual(["won by a", "renewed by a", "won by b", "released", "deleted"]);
  });

  it("notifies the watchers after watchDelayMs, until they leave", async () => {
    const { clock, server, lock } = newServer();
    const seen: string[] = [];
    const leave = new AbortController();
    const observer = {
      observed: ({ record }: { record: { holderIdentity: string } }) => seen.push(record.holderIdentity),
      deleted: () => seen.push("deleted"),
      changed: () => {},
      up: () => seen.push("up"),
      down: () => {},
    };
    lock.watch(observer, leave.signal);
    server.put(recordOf("a"));
    expect(seen).toEqual(["up"]);
    await clock.pass(1);
    server.watchDelayMs = 0;
    server.delete();
    lock.cut();
    server.put(recordOf("b"));
    expect(seen).toEqual(["up", "a", "deleted"]);
    leave.abort();
    expect(server.watchers).toBe(0);
  });
});

describe("MemoryLock", () => {
  it("answers after latencyMs and remembers the requests", async () => {
    const { clock, lock, answerOf } = newServer();
    lock.latencyMs = 20;
    const writing = lock.write(recordOf("a"), undefined, signal, 500);
    await clock.pass(19);
    expect(lock.server.holder).toBeUndefined();
    expect(await answerOf(writing)).toMatchObject({ kind: "found", view: { record: recordOf("a") } });
    expect(await answerOf(lock.read(signal))).toMatchObject({ kind: "found" });
    expect(lock.requests.map(({ kind, timeoutMs }) => [kind, timeoutMs])).toEqual([
      ["write", 500],
      ["read", undefined],
    ]);
  });

  it.each<[Fault, string | undefined, string | undefined]>([
    ["hang", undefined, undefined],
    ["lose-answer", undefined, "a"],
    ["hold", undefined, "a"],
    [{ kind: "throttled", message: "too many requests" }, "failed", undefined],
  ])("with the fault %j answers %s and leaves the holder %s", async (fault, kind, holder) => {
    const { server, lock, answerOf } = newServer();
    lock.fault = () => fault;
    const answer = await answerOf(lock.write(recordOf("a"), undefined, signal));
    expect([answer?.kind, server.holder]).toEqual([kind, holder]);
  });

  it("delivers a held answer when the test says so", async () => {
    const { lock, answerOf } = newServer();
    lock.fault = () => "hold";
    const reading = lock.read(signal);
    expect(await answerOf(reading)).toBeUndefined();
    lock.answerHeld();
    expect(await answerOf(reading)).toEqual({ kind: "absent" });
  });

  it("fails a request that the candidate aborts", async () => {
    const { lock, answerOf } = newServer();
    const abort = new AbortController();
    lock.cut();
    const reading = lock.read(abort.signal);
    abort.abort();
    expect(await answerOf(reading)).toMatchObject({ kind: "failed", failure: { kind: "timeout" } });
  });

  it("can have a defect", async () => {
    const { lock } = newServer();
    lock.fault = () => "reject";
    await expect(lock.read(signal)).rejects.toThrow("this lock rejects");
    lock.fault = () => "throw";
    expect(() => lock.read(signal)).toThrow("this lock throws");
  });
});
