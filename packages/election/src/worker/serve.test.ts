/** The candidate in the worker thread: what it tells the main thread, and what it does without it. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Notice } from "../candidate.ts";
import { config } from "../testing/candidates.ts";
import { serveCandidate } from "./serve.ts";
import { SharedStatus } from "./shared-status.ts";

function newThread({ endOnOverrun = true, reportsStanding = false } = {}) {
  const clock = new VirtualClock();
  const server = new MemoryServer(clock);
  const lock = server.link();
  const status = new SharedStatus();
  const notices: string[] = [];
  const ended: string[] = [];
  /** Until when the work may run, as the main thread sees it when it hears of the term. */
  let validUntilMs: number | undefined;
  const send = ({ type }: Notice) => {
    if (type === "term-started") validUntilMs = status.validUntil()?.monoMs;
    if (type !== "answered") notices.push(type);
  };
  const serve = () =>
    serveCandidate({
      setup: {
        config,
        lock: { kind: "lease", options: { name: "x" } },
        status: status.buffer,
        endOnOverrun,
        reportsStanding,
      },
      lock,
      clock,
      random: () => 0.5,
      send,
      endProcess: (message) => void ended.push(message),
    });
  const lead = async () => {
    const onCommand = await serve();
    onCommand({ type: "start" });
    await clock.pass(5);
    return onCommand;
  };
  return { clock, server, lock, status, notices, ended, serve, lead, validUntilMs: () => validUntilMs };
}

describe("a candidate in a worker thread", () => {
  it("takes the commands of the main thread, and tells it what happens", async () => {
    const { clock, server, notices, lead } = newThread();
    const onCommand = await lead();
    expect([server.holder, notices]).toEqual(["a", ["term-started", "leader-changed"]]);
    onCommand({ type: "stop" });
    onCommand({ type: "work-stopped", cooldownMs: 0 });
    await clock.pass(5);
    expect(server.log).toEqual(["won by a", "released"]);
    expect(notices.at(-1)).toBe("stopped");
  });

  it("shares until when the work may run, before the main thread hears of the term", async () => {
    const { clock, status, lead, validUntilMs } = newThread();
    await lead();
    const wonMs = status.lastContactMs();
    expect(validUntilMs()).toBeGreaterThan(wonMs + 14_700);
    await clock.pass(10_000);
    expect(status.validUntil()?.monoMs).toBeGreaterThan(wonMs + 20_000);
    expect(status.lastContactMs()).toBeGreaterThan(wonMs + 5_000);
  });

  it("ends the process if the main thread has not stopped its work by the hard deadline", async () => {
    const { clock, lock, ended, notices, lead } = newThread();
    await lead();
    lock.cut();
    await clock.pass(14_700);
    expect(ended).toEqual([]);
    await clock.pass(100);
    expect(ended).toEqual([expect.stringMatching(/^tenure: the term of lock in memory is over/)]);
    expect(notices).toContain("overrun");
  });

  it("only tells the main thread of it if the process is not to end", async () => {
    const { clock, lock, ended, notices, lead } = newThread({ endOnOverrun: false });
    await lead();
    lock.cut();
    await clock.pass(20_000);
    expect(ended).toEqual([]);
    expect(notices).toContain("overrun");
  });

  it("tells the main thread its standing only if that shows it to operators", async () => {
    const [shown, hidden] = [newThread({ reportsStanding: true }), newThread()];
    await shown.lead();
    await hidden.lead();
    expect(shown.notices).toContain("standing");
    expect(hidden.notices).not.toContain("standing");
  });

  it("is not ready before its lock is, and fails if the lock does", async () => {
    const { lock, serve } = newThread();
    lock.prepare = () => Promise.reject(new Error("no such kubeconfig"));
    await expect(serve()).rejects.toThrow("no such kubeconfig");
  });
});
