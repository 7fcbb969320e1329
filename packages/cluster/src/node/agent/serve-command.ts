/** `kubectl exec` and `kubectl attach`: connects a client with a program in a container, or with the container itself. */
import type { IncomingMessage } from "node:http";
import type { Duplex, Writable } from "node:stream";
import { exitCodeOf, startProgram } from "@tenure/supervisor/internal";
import type { RunningContainer } from "../pod/running-container.ts";
import { AgentError } from "./agent-error.ts";
import { acceptCommand } from "./command-transport.ts";
import { RemoteCommand } from "./remote-command.ts";
import { hasTerminals, inTerminal, resizeTerminal } from "./terminal.ts";

export interface CommandRequest {
  readonly running: RunningContainer;
  readonly query: URLSearchParams;
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Kills a process group. */
  readonly kill: (pid: number) => void;
}

const isSet = (query: URLSearchParams, name: string) => ["1", "true"].includes(query.get(name) ?? "");

export async function serveExec({
  running,
  query,
  incoming,
  socket,
  head,
  kill,
}: CommandRequest): Promise<void> {
  const argv = query.getAll("command");
  if (argv.length === 0) throw new AgentError(400, "you must specify at least 1 command for the container");
  const wantsTerminal = isSet(query, "tty");
  const plain = running.enter(argv);
  const launch = wantsTerminal && hasTerminals() ? inTerminal(plain) : plain;
  const hasInput = isSet(query, "stdin");
  const command = new RemoteCommand(acceptCommand(incoming, socket, query));
  const { child, spawned } = startProgram(launch, [hasInput ? "pipe" : "ignore", "pipe", "pipe"]);
  const { pid, stdin, stdout, stderr } = child;
  stdin?.on("error", () => {});
  const ended = new Promise<number>((resolve) => {
    child.once("exit", (code, signal) =>
      resolve(exitCodeOf({ code: code ?? undefined, signal: signal ?? undefined })),
    );
  });
  command.start(
    {
      stdin: stdin ?? undefined,
      onResize: (size) => pid !== undefined && resizeTerminal(pid, size),
      // The client left: a program that nobody watches ends, as when a terminal is closed.
      onClose: () => pid !== undefined && kill(pid),
    },
    head,
  );
  try {
    await spawned;
    await Promise.all([
      stdout && command.forward("stdout", stdout),
      stderr && command.forward("stderr", stderr),
    ]);
    command.end(await ended);
  } catch (error) {
    command.fail(error instanceof Error ? error.message : String(error));
  }
}

export async function serveAttach({ running, query, incoming, socket, head }: CommandRequest): Promise<void> {
  const command = new RemoteCommand(acceptCommand(incoming, socket, query));
  const stop = running.log.onOutput(({ stream, data }) => void command.write(stream, data));
  const input: Writable | undefined = isSet(query, "stdin") ? running.process.stdin : undefined;
  command.start({ stdin: input, onClose: stop }, head);
  const { exit } = await running.process.gone;
  stop();
  command.end(exitCodeOf(exit));
}
