/**
 * The child's side of `tenure run`: reports when it is ready, and on SIGTERM takes no more messages, finishes those in flight,
 * ends the stream and exits with 0. It exits with 1 if the consumer stopped because of a failure, or if messages were still in
 * flight at the end of the drain time. A second signal ends it at once.
 */
import { messageOf, onAbort, sentence, shutdownOn } from "@tenure/base";
import type { StreamConsumer } from "../consumer/consumer.ts";
import type { GrpcClient } from "../consumer/server-stream.ts";
import type { ShutdownReport } from "../events.ts";
import { type HealthServer, startHealthServer } from "../health/server.ts";
import { systemProcess, type WorkerProcess } from "../platform.ts";

export interface WorkerOptions<Client extends GrpcClient, Message, Cursor> {
  readonly consumer: StreamConsumer<Client, Message, Cursor>;
  /** Serves the consumer's health as grpc.health.v1 on this host:port. @default none */
  readonly healthListen?: string;
  /**
   * The file descriptor to write a newline to when the stream works, for `tenure run --ready fd:3`. `--ready ipc` needs no
   * setting. @default none
   */
  readonly readyFd?: number;
  /** Called with each line of the log. @default writes to stderr */
  readonly log?: (line: string) => void;
  /** For tests. @default this process */
  readonly process?: WorkerProcess;
}

/** The time that sockets have to write and close after the work has ended. */
const exitWithinMs = 1_000;

/** Runs the consumer until it ends, then lets the process exit. Resolves with the exit code. */
export async function runWorker<Client extends GrpcClient, Message, Cursor>(
  options: WorkerOptions<Client, Message, Cursor>,
): Promise<number> {
  const { consumer, healthListen, readyFd, process = systemProcess } = options;
  const log = options.log ?? ((line: string) => tryToWrite(process, line));
  let report: ShutdownReport | undefined;
  let health: HealthServer | undefined;
  // Never disposed: a signal that arrives while the process ends must not kill it.
  const { signal } = shutdownOn(process, () => {
    log("Another signal: ending at once.");
    void consumer.shutdown(0);
  });
  const cleanups = [
    onAbort(signal, () => log("Shutting down.")),
    consumer.on("broken", ({ error, retryInMs }) =>
      log(`${error.message} Next attempt in ${Math.round(retryInMs)} ms.`),
    ),
    consumer.on("handler-failed", ({ error, failures, decision }) =>
      log(`The handler threw (failure ${failures}, ${decision}): ${sentence(error.message)}`),
    ),
    consumer.on("closed", (closed) => {
      report = closed;
    }),
    reportReady(consumer, process, readyFd),
  ];
  let code = 0;
  try {
    if (healthListen !== undefined) {
      health = await startHealthServer({ source: consumer, listen: healthListen });
    }
    // A signal may have arrived before there was anything to stop.
    await (signal.aborted ? consumer.shutdown() : consumer.start({ signal }));
  } catch (error) {
    log(messageOf(error));
    code = 1;
  } finally {
    health?.close();
    for (const cleanup of cleanups) cleanup();
  }
  if (report) log(`Shut down: ${report.message}.`);
  if (report && !report.drained) code = 1;
  process.end(code, exitWithinMs);
  return code;
}

/** The reader of stderr may be gone. That is no reason to leave work unfinished. */
function tryToWrite(process: WorkerProcess, line: string): void {
  try {
    process.writeLine(2, line);
  } catch {
    // There is nowhere else to report it.
  }
}

/** Reports once, when a stream works for the first time. A server that refuses every stream never makes it ready. */
function reportReady<Client extends GrpcClient, Message, Cursor>(
  consumer: StreamConsumer<Client, Message, Cursor>,
  process: WorkerProcess,
  readyFd: number | undefined,
): () => void {
  let isReported = false;
  return consumer.on("health", ({ ready }) => {
    if (!ready || isReported) return;
    isReported = true;
    process.sendToParent("ready");
    if (readyFd !== undefined) process.writeLine(readyFd, "");
  });
}
