/** The connection to the server: the session, the live stream, orders. */
import { EventParser } from "../events/event-parser.ts";
import type { ElectionLine } from "../model/election.ts";
import type { Observation } from "../model/observation.ts";
import { Timeline, type TimelineData } from "../model/timeline.ts";
import type { App, ServerFacts } from "./app.ts";
import { later, monotonicMs, pause, store, stored } from "./platform.ts";

const sessionName = "tenure-session";
const reconnectMs = 1_000;
/** The server says something every two seconds. */
const silentMs = 8_000;
/** After this much work the browser gets a turn. */
const turnMs = 8;

let session: string | undefined;

/** Exchanges the one-time token in the address for a session of this tab. Throws if the server refuses. */
export async function openSession(): Promise<void> {
  session = stored(sessionName, "tab");
  const [, token] = /[#&]token=([\w-]+)/.exec(location.hash) ?? [];
  // The token has been used when the page is loaded again, and must not stay in the history of the browser.
  if (token !== undefined) history.replaceState(null, "", location.pathname);
  if (token === undefined && session !== undefined) return;
  const response = await fetch("session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  const answer = (await response.json()) as { session?: string; message?: string };
  if (!answer.session) throw new Error(answer.message ?? "The server refused.");
  session = answer.session;
  store(sessionName, session, "tab");
}

export async function ask<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${session}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T & { message?: string };
  if (!response.ok) throw new Error(answer.message ?? response.statusText);
  return answer;
}

/** Follows the server for ever. Resolves only if the session has ended. */
export async function followServer(app: App): Promise<void> {
  for (;;) {
    try {
      if ((await readStream(app)) === 401) {
        app.trouble = "The session of this page has ended. Start tenure ui again.";
        app.invalidate();
        return;
      }
    } catch {
      // Reported below, like an end of the stream.
    }
    app.trouble = "The connection to tenure ui is lost. Trying again.";
    app.invalidate();
    await new Promise<void>((resolve) => later(reconnectMs, resolve));
  }
}

async function readStream(app: App): Promise<number> {
  const stop = new AbortController();
  const response = await fetch("events", {
    headers: { authorization: `Bearer ${session}` },
    signal: stop.signal,
  });
  if (!response.ok || !response.body) return response.status;
  const queue: [string, string][] = [];
  const parser = new EventParser((data, event) => queue.push([event, data]));
  const receive = receiver(app);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let cancel = () => {};
  let turnBeganMs = monotonicMs();
  for (;;) {
    cancel();
    cancel = later(silentMs, () => stop.abort());
    const { done, value } = await reader.read();
    if (done) return 0;
    parser.push(value);
    for (const [event, data] of queue.splice(0)) {
      receive(event, data);
      if (monotonicMs() - turnBeganMs < turnMs) continue;
      await pause();
      turnBeganMs = monotonicMs();
    }
  }
}

/** Handles the events of one connection. */
function receiver(app: App): (event: string, data: string) => void {
  let facts: ServerFacts & TimelineData = { ...app.facts, startMs: 0, nowMs: 0, elections: [], blind: [] };
  let lines: ElectionLine[] = [];
  return (event, text) => {
    const data: unknown = JSON.parse(text);
    switch (event) {
      case "begin":
        facts = data as typeof facts;
        lines = [];
        return;
      case "election":
        lines.push(data as ElectionLine);
        return;
      case "ready": {
        const timeline = Timeline.from({ ...facts, elections: lines });
        app.begin(timeline, facts, facts.nowMs);
        app.trouble = undefined;
        app.ready();
        return;
      }
      case "seen":
        app.timeline.observe(data as Observation);
        app.invalidate();
        return;
      case "now":
        app.setNow((data as { nowMs: number }).nowMs);
    }
  };
}
