/** GET of the log of a container, as `kubectl logs` asks for it. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { logTime } from "../logs/log-line.ts";
import { readLog } from "../logs/read-log.ts";
import type { NodePlatform } from "../platform.ts";
import type { PodManager } from "../pod/pod-manager.ts";
import { AgentError } from "./agent-error.ts";

interface LogRequest {
  readonly manager: PodManager;
  readonly platform: NodePlatform;
  readonly target: { readonly namespace: string; readonly pod: string; readonly container: string };
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

export async function serveLogs({ manager, platform, target, query, response }: LogRequest): Promise<void> {
  const { namespace, pod, container } = target;
  const worker = manager.find(namespace, pod);
  if (!worker) throw new AgentError(404, `pod ${JSON.stringify(pod)} does not run on this node`);
  const { files } = worker.runtime;
  const running = worker.runtime.running(container);
  const isPrevious = query.get("previous") === "true";
  const count = worker.restartCount(container) - (isPrevious ? 1 : 0);
  if (count < 0 || !files.hasLog(container, count)) {
    const what = isPrevious ? "previous terminated container" : "container";
    const state = isPrevious ? "not found" : "is waiting to start";
    throw new AgentError(400, `${what} ${JSON.stringify(container)} in pod ${JSON.stringify(pod)} ${state}`);
  }
  const path = files.logOf(container, count);
  const reader = new AbortController();
  response.once("close", () => reader.abort());
  response.writeHead(200, { "Content-Type": "text/plain" });
  response.flushHeaders();
  const options = {
    tailLines: numberIn(query, "tailLines"),
    limitBytes: numberIn(query, "limitBytes"),
    sinceTime: sinceIn(query, platform.clock.now().wallMs),
    timestamps: query.get("timestamps") === "true",
    follow: query.get("follow") === "true",
    signal: reader.signal,
  };
  const log = running?.log.path === path ? running.log : undefined;
  for await (const piece of readLog(path, log, options)) {
    if (!response.write(piece) && !reader.signal.aborted)
      await once(response, "drain", { signal: reader.signal }).catch(() => undefined);
  }
  response.end();
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null ? undefined : Number(text);
}

function sinceIn(query: URLSearchParams, nowMs: number): string | undefined {
  const seconds = numberIn(query, "sinceSeconds");
  if (seconds !== undefined) return logTime(nowMs - seconds * 1000);
  const time = query.get("sinceTime");
  return time ? logTime(Date.parse(time)) : undefined;
}
