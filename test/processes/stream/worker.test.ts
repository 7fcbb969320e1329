/** Workers as processes: what the service and the network see when they end. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readJournals } from "../../../examples/demo/journals.mjs";
import { startService } from "../../../examples/stream-worker/service.mjs";
import { atTheEnd, closeAll, freePort, until } from "./support.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const hasPython = spawnSync("python3", ["--version"]).status === 0;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-worker-"));
  atTheEnd(() => rm(folder, { recursive: true }));
});
afterEach(closeAll);

/** A service that floods, behind a TCP proxy that records how connections end. */
async function flood() {
  const said: string[] = [];
  const service = await startService({
    rate: Number.POSITIVE_INFINITY,
    total: 200_000,
    log: (line) => said.push(line),
  });
  atTheEnd(() => service.close());
  const ends: string[] = [];
  const tap = createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
    const far = connect({ port: service.port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    near.on("end", () => ends.push("end"));
    // A write of this tap after the worker has ended its side says nothing about the worker. If this tap has not read that end yet,
    // the write fails with EPIPE. After a connection that was reset instead, it fails with ECONNRESET.
    near.on("error", (error: NodeJS.ErrnoException) => {
      if (!near.readableEnded) ends.push(error.code === "EPIPE" ? "end" : String(error.code));
    });
    far.on("error", () => near.destroy());
    near.pipe(far);
    far.pipe(near);
    near.on("close", () => far.destroy());
  });
  tap.listen(0, "127.0.0.1");
  await once(tap, "listening");
  atTheEnd(() => tap.close());
  return { service, said, ends, address: `127.0.0.1:${(tap.address() as AddressInfo).port}` };
}

function start(program: string, args: string[], token = 1, stdio: "pipe" | "ipc" = "pipe") {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    cwd: root,
    env: { ...process.env, TENURE_TOKEN: String(token), TENURE_IDENTITY: `worker-${token}` },
    stdio: ["ignore", "pipe", "pipe", ...(stdio === "ipc" ? (["ipc"] as const) : [])],
  });
  atTheEnd(() => child.kill("SIGKILL"));
  const output = { out: "", err: "" };
  child.stdout?.on("data", (text) => (output.out += text));
  child.stderr?.on("data", (text) => (output.err += text));
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  return { child, output, exited };
}

describe("a shutdown under load", () => {
  it("finishes messages in flight; the service sees the worker leave and the network a clean end", async () => {
    const { service, said, ends, address } = await flood();
    const journal = join(folder, "journal-1");
    const { child, exited, output } = start("examples/stream-worker/worker.mjs", [
      ...["--server", address, "--concurrency", "8", "--work-ms", "5", "--journal", journal],
    ]);
    await until(() => service.ledger.finished > 200, "two hundred orders");
    child.kill("SIGTERM");
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(output.err).toContain("every message in flight was finished; the server ended the stream");
    const { started } = await readJournals(folder);
    expect(started).toBe(service.ledger.finished);
    expect(service.ledger).toMatchObject({ left: 1, dropped: 0, refused: 0 });
    expect(said.at(-1)).toBe("worker-1 left: the stream has ended");
    await until(() => ends.length > 0, "the end of the connection");
    expect(ends).toEqual(["end"]);
  });

  it("on a bidirectional stream acknowledges what is finished, then ends its side: nothing is processed again", async () => {
    const { service, said, ends, address } = await flood();
    const args = ["--server", address, "--acknowledge", "--concurrency", "8", "--work-ms", "5"];
    const first = start("examples/stream-worker/worker.mjs", [
      ...args,
      ...["--journal", join(folder, "journal-1")],
    ]);
    await until(() => service.ledger.finished > 200, "two hundred orders");
    first.child.kill("SIGTERM");
    expect(await first.exited).toEqual({ code: 0, signal: null });
    expect(first.output.err).toContain("every message in flight was finished; the server ended the stream");
    expect((await readJournals(folder)).started).toBe(service.ledger.finished);
    expect(service.ledger).toMatchObject({ left: 1, dropped: 0, refused: 0, twice: 0 });
    expect(said.at(-1)).toBe("worker-1 left: the stream has ended");
    await until(() => ends.length > 0, "the end of the connection");
    expect(ends).toEqual(["end"]);
    const finished = service.ledger.finished;
    const journal = join(folder, "journal-2");
    const second = start("examples/stream-worker/worker.mjs", [...args, "--journal", journal], 2);
    await until(() => service.ledger.finished > finished + 200, "two hundred more");
    second.child.kill("SIGTERM");
    expect(await second.exited).toEqual({ code: 0, signal: null });
    const { started } = await readJournals(folder);
    expect(started).toBe(service.ledger.finished);
    expect(service.ledger.twice).toBe(0);
  });

  it("without onDrain cancels the stream, and the connection still ends cleanly", async () => {
    const { service, ends, address } = await flood();
    const { child, exited, output } = start("test/processes/stream/plain-worker.mjs", [address]);
    await until(() => service.ledger.finished > 100, "a hundred orders");
    child.kill("SIGTERM");
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(output.err).toContain("every message in flight was finished; the stream was cancelled");
    // The worker knows of every order that the service counts as finished: none was interrupted.
    expect(output.out.match(/finished \d+/g)).toHaveLength(service.ledger.finished);
    await until(() => service.ledger.dropped === 1, "the end of the stream");
    await until(() => ends.length > 0, "the end of the connection");
    expect(ends).toEqual(["end"]);
  });

  it("ends after the drain time if handlers hang, and reports it", async () => {
    const { address } = await flood();
    const { child, exited, output } = start("test/processes/stream/plain-worker.mjs", [address, "hangs"]);
    await until(() => output.out.includes("hangs on 8"), "eight stuck handlers");
    const startedMs = Date.now();
    child.kill("SIGTERM");
    expect(await exited).toEqual({ code: 1, signal: null });
    expect(Date.now() - startedMs).toBeGreaterThan(900);
    expect(output.err).toContain("8 messages were still in flight when the drain time was over");
  });

  it("ends at once on a second signal", async () => {
    const { address } = await flood();
    const { child, exited, output } = start("test/processes/stream/plain-worker.mjs", [address, "hangs"]);
    await until(() => output.out.includes("hangs on 8"), "eight stuck handlers");
    child.kill("SIGTERM");
    await until(() => output.err.includes("Shutting down."), "the first signal");
    child.kill("SIGTERM");
    expect((await exited).code).toBe(1);
    expect(output.err).toContain("Another signal: ending at once.");
  });
});

describe("a worker under tenure run", () => {
  it("reports ready and healthy over grpc.health.v1, and hands over on SIGTERM", {
    timeout: 60_000,
  }, async () => {
    const { service, address } = await flood();
    const sandbox = await startSandbox();
    atTheEnd(() => sandbox.close());
    const kubeconfig = join(folder, "kubeconfig");
    await sandbox.writeKubeconfig(kubeconfig);
    const health = `127.0.0.1:${await freePort()}`;
    const { child, exited, output } = start("packages/cli/bin/tenure.cjs", [
      ...["run", "--kubeconfig", kubeconfig, "--lease-lock-name", "orders", "--id", "a"],
      ...["--ready", `grpc://${health}/ready`, "--health", `grpc://${health}`, "--health-period", "100ms"],
      ...["--log-format", "json", "--child-shutdown", "20s", "--child-drain", "15s", "--"],
      ...[process.execPath, "examples/stream-worker/worker.mjs", "--server", address, "--health", health],
    ]);
    await until(() => output.err.includes('"phase":"leader"'), "leadership", 30_000);
    await until(() => service.ledger.finished > 100, "a hundred orders");
    expect(output.err).not.toContain('"healthy":false');
    child.kill("SIGTERM");
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(service.ledger).toMatchObject({ left: 1, dropped: 0 });
    expect(service.ledger.workers).toEqual({ a: service.ledger.finished });
  });
});

describe("a worker", () => {
  it("reports over IPC that it is ready, and exits while its parent still runs", async () => {
    const { address } = await flood();
    const { child, exited } = start("examples/stream-worker/worker.mjs", ["--server", address], 1, "ipc");
    expect((await once(child, "message"))[0]).toBe("ready");
    child.kill("SIGTERM");
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it("with a stale token is rejected and exits", async () => {
    const { service, address } = await flood();
    const old = start("examples/stream-worker/worker.mjs", ["--server", address, "--work-ms", "5"], 7);
    await until(() => service.ledger.finished > 20, "some orders");
    const successor = start("examples/stream-worker/worker.mjs", ["--server", address, "--work-ms", "5"], 8);
    expect((await old.exited).code).toBe(1);
    expect(old.output.err).toContain("token 7 is stale: 8 has been seen");
    expect(service.ledger.twice).toBe(0);
    successor.child.kill("SIGTERM");
    expect((await successor.exited).code).toBe(0);
  });

  it.skipIf(!hasPython)(
    "in Python appends to a file, stops when its token is stale, and stops on SIGTERM",
    async () => {
      const file = join(folder, "ledger.txt");
      const python = (token: number) =>
        spawn("python3", ["examples/stream-worker/worker.py", file, "0.05"], {
          cwd: root,
          env: { ...process.env, TENURE_TOKEN: String(token), TENURE_IDENTITY: `python-${token}` },
          stdio: ["ignore", "ignore", "pipe"],
        });
      const read = () => readFile(file, "utf8").catch(() => "");
      const old = python(3);
      atTheEnd(() => old.kill("SIGKILL"));
      while (!(await read()).includes("3 python-3 2"))
        await new Promise((resolve) => setTimeout(resolve, 10));
      const successor = python(4);
      atTheEnd(() => successor.kill("SIGKILL"));
      expect(await once(old, "exit")).toEqual([1, null]);
      successor.kill("SIGTERM");
      const [code] = await once(successor, "exit");
      const lines = (await read()).trim().split("\n");
      expect(code).toBe(0);
      expect(lines.map((line) => Number(line.split(" ")[2]))).toEqual(lines.map((_, index) => index + 1));
      const tokens = lines.map((line) => Number(line.split(" ")[0]));
      expect(tokens).toEqual([...tokens].sort());
      expect(tokens.at(-1)).toBe(4);
    },
  );
});
