import { describe, expect, it } from "vitest";
import type { WorkerProcess } from "../platform.ts";
import { makeRig } from "../testing/rig.ts";
import { settle } from "../testing/settle.ts";
import { runWorker } from "./worker.ts";

class FakeProcess implements WorkerProcess {
  readonly written: string[] = [];
  readonly sent: unknown[] = [];
  code: number | undefined;
  readonly #listeners = new Map<string, () => void>();

  onSignal(name: string, listener: () => void): () => void {
    this.#listeners.set(name, listener);
    return () => this.#listeners.delete(name);
  }

  writeLine(fd: number, line: string): void {
    this.written.push(`${fd}: ${line}`);
  }

  sendToParent(message: unknown): void {
    this.sent.push(message);
  }

  end(code: number): void {
    this.code = code;
  }

  signal(name: string): void {
    this.#listeners.get(name)?.();
  }
}

type Options = Parameters<typeof makeRig>[0];

function setUp(options: Options = {}, connection: "ready" | "connecting" | "failed" = "ready") {
  const rig = makeRig(options);
  rig.service.connection = connection;
  const process = new FakeProcess();
  const run = runWorker({ consumer: rig.consumer, process, readyFd: 3 });
  return { ...rig, process, run };
}

describe("runWorker", () => {
  it("reports once that it is ready, when the stream works", async () => {
    const { service, process, clock } = setUp({}, "connecting");
    await settle();
    expect(process.sent).toEqual([]);
    service.clients[0]?.become("ready");
    await settle();
    expect(process.sent).toEqual([]);
    service.stream.send(1);
    await settle();
    expect(process.sent).toEqual(["ready"]);
    expect(process.written).toContain("3: ");
    service.stream.finish(14, "gone");
    await clock.pass(1_000);
    service.clients[1]?.become("ready");
    await settle();
    expect(process.sent).toEqual(["ready"]);
  });

  it("is not ready while there is no connection", async () => {
    const { process } = setUp({}, "failed");
    await settle();
    expect(process.sent).toEqual([]);
  });

  it("logs why the stream broke and when it tries again, as two sentences", async () => {
    const { service, process } = setUp();
    await settle();
    service.stream.finish(14, "Connection dropped");
    await settle();
    expect(process.written.join("\n")).toMatch(/Connection dropped\. Next attempt in \d+ ms\.$/m);
  });

  it("finishes messages in flight on SIGTERM and exits with 0", async () => {
    const { service, jobs, process, run } = setUp();
    await settle();
    service.stream.send(1, 2);
    await settle();
    process.signal("SIGTERM");
    await settle();
    expect(process.code).toBeUndefined();
    await jobs[0]?.finish();
    expect(await run).toBe(0);
    expect(process.code).toBe(0);
    expect(process.written.at(-1)).toBe(
      "2: Shut down: every message in flight was finished; the stream was cancelled.",
    );
  });

  it("exits with 1 if a handler hangs, and reports it", async () => {
    const { service, clock, process, run } = setUp();
    await settle();
    service.stream.send(1);
    await settle();
    process.signal("SIGTERM");
    await clock.pass(15_000);
    expect(await run).toBe(1);
    expect(process.written.at(-1)).toContain("1 message was still in flight when the drain time was over");
  });

  it("ends at once on a second signal", async () => {
    const { service, clock, process, run } = setUp();
    await settle();
    service.stream.send(1);
    await settle();
    process.signal("SIGTERM");
    process.signal("SIGINT");
    await clock.pass(0);
    expect(await run).toBe(1);
  });

  it("exits with 1 if the consumer failed, and reports the reason", async () => {
    const { service, jobs, process, run } = setUp({ onHandlerError: "stop" });
    await settle();
    service.stream.send(1);
    await settle();
    await jobs[0]?.fail(new Error("poison"));
    expect(await run).toBe(1);
    expect(process.written.join("\n")).toContain("The consumer stopped because its handler threw: poison");
  });

  it("exits with 0 on a signal that arrives before the start", async () => {
    const { consumer, service } = makeRig();
    const process = new FakeProcess();
    const run = runWorker({ consumer, process, healthListen: "127.0.0.1:0" });
    process.signal("SIGTERM");
    expect(await run).toBe(0);
    expect(service.streams).toHaveLength(0);
  });
});
