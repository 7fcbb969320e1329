/**
 * The child's side of `tenure run`: says that it is ready, and on SIGTERM takes no more work, finishes what is in flight, ends
 * the stream and exits 0. Exits 1 when it stopped by a failure, or when messages were still in flight at the end of the drain
 * time. A second signal ends it at once.
 */
import type { StreamConsumer } from "../consumer/consumer.ts";
import type { GrpcClient } from "../consumer/server-stream.ts";
import { asError } from "../errors.ts";
import type { ShutdownReport } from "../events.ts";
import { type HealthServer, startHealthServer } from "../health/server.ts";
import { systemProcess, type WorkerProcess } from "../platform.ts";

export interface WorkerOptions<Client extends GrpcClient, Message, Cursor> {
  readonly consumer: StreamConsumer<Client, Message, Cursor>;
  /** Offers the consumer's health by grpc.health.v1 on this host:port. @default none */
  readonly healthListen?: string;
  /**
   * Where to write a newline when the stream is open, for `tenure run --ready fd:3`. With `--ready ipc` there is nothing to set.
   * @default none
   */
  readonly readyFd?: number;
  /** What people should know, a line each. @default written to stderr */
  readonly log?: (line: string) => void;
  /** @default this process */
  readonly process?: WorkerProcess;
}

/** After the end of the work, for sockets to be written and closed. */
const exitWithinMs = 1_000;

/** Runs the consumer to its end and lets the process exit. Resolves with the exit code when only that is left. */
export async function runWorker<Client extends GrpcClient, Message, Cursor>(
  options: WorkerOptions<Client, Message, Cursor>,
): Promise<number> {
  const { consumer, healthListen, readyFd, process = systemProcess } = options;
  const log = options.log ?? ((line: string) => tryToWrite(process, line));
  let report: ShutdownReport | undefined;
  let health: HealthServer | undefined;
  let signals = 0;
  const onSignal = (name: string) => () => {
    signals++;
    log(signals === 1 ? `${name}: shutting down` : `${name} again: ending at once`);
    void consumer.shutdown(signals === 1 ? undefined : 0);
  };
  // For good: a signal that comes while the process ends must not be what ended it.
  process.onSignal("SIGTERM", onSignal("SIGTERM"));
  process.onSignal("SIGINT", onSignal("SIGINT"));
  const unlisten = [
    consumer.on("broken", ({ error, retryInMs }) =>
      log(`${error.message} Next try in ${Math.round(retryInMs)} ms.`),
    ),
    consumer.on("handler-failed", ({ error, failures, decision }) =>
      log(`The handler threw (time ${failures}, ${decision}): ${error.message}`),
    ),
    consumer.on("closed", (closed) => {
      report = closed;
    }),
    sayWhenReady(consumer, process, readyFd),
  ];
  let code = 0;
  try {
    if (healthListen !== undefined) {
      health = await startHealthServer({ source: consumer, listen: healthListen });
    }
    // A signal may have come before there was anything to stop.
    await (signals === 0 ? consumer.start() : consumer.shutdown());
  } catch (error) {
    log(asError(error).message);
    code = 1;
  } finally {
    health?.close();
    for (const end of unlisten) end();
  }
  if (report) log(`Shut down: ${report.message}.`);
  if (report && !report.drained) code = 1;
  process.end(code, exitWithinMs);
  return code;
}

/** Whoever reads may be gone; that is no reason to leave work unfinished. */
function tryToWrite(process: WorkerProcess, line: string): void {
  try {
    process.writeLine(2, line);
  } catch {
    // Nobody is left to tell.
  }
}

function sayWhenReady<Client extends GrpcClient, Message, Cursor>(
  consumer: StreamConsumer<Client, Message, Cursor>,
  process: WorkerProcess,
  readyFd: number | undefined,
): () => void {
  let isSaid = false;
  return consumer.on("phase", ({ phase }) => {
    if (phase !== "streaming" || isSaid) return;
    isSaid = true;
    process.tellParent("ready");
    if (readyFd !== undefined) process.writeLine(readyFd, "");
  });
}
