/**
 * Listens for changes of one lock. A pooler can pass LISTEN on and then lose every notification, so the listener sends itself a
 * notification from another connection. Only when it arrives, the watch counts as up; otherwise the candidate polls.
 */
import { after, Backoff, type Clock, first, onAbort, sleep, within } from "@tenure/base";
import { Connection } from "./connection.ts";
import type { OpenSession, Session } from "./session.ts";

/** The time for connecting, and for one query. */
const stepMs = 10_000;
/** How long a test notification may take. It usually takes a millisecond. */
const testMs = 3_000;
/** A leader renews more often. If there is none, the connection is checked. */
const silenceMs = 30_000;
/** A pooler that loses notifications does not change often. */
const poolerRetryMs = 300_000;

/** Notifications do not arrive over this connection. */
export class NoNotifications extends Error {
  override readonly name = "NoNotifications";
}

export interface ListenerParts {
  readonly urls: readonly string[];
  readonly open: OpenSession;
  /** A query that returns the channel of the lock with the name $1. */
  readonly channelSql: string;
  readonly name: string;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** From now on every notification arrives. Earlier ones may be missing. */
  readonly onUp: () => void;
  readonly onPayload: (payload: string) => void;
  readonly onDown: (error: unknown) => void;
}

/** Listens until the signal aborts, and reconnects by itself. */
export async function listen(parts: ListenerParts, signal: AbortSignal): Promise<void> {
  const { clock, random, onDown } = parts;
  const backoff = new Backoff({ firstMs: 200, mostMs: 10_000, jitter: 0.5 }, random);
  while (!signal.aborted) {
    let error: unknown;
    try {
      await listenOnce(parts, signal, () => {
        backoff.reset();
        parts.onUp();
      });
    } catch (thrown) {
      error = thrown;
    }
    if (signal.aborted) return;
    onDown(error);
    await sleep(clock, error instanceof NoNotifications ? poolerRetryMs : backoff.next(), signal);
  }
}

async function listenOnce(parts: ListenerParts, signal: AbortSignal, onUp: () => void): Promise<void> {
  const { urls, open, channelSql, name, clock, onPayload } = parts;
  const connection = new Connection(urls, open);
  const off = onAbort(signal, () => connection.close());
  try {
    const session = await limited(clock, stepMs, signal, (limit) => connection.session(limit));
    let lastNewsMs = clock.now().monoMs;
    let onTest = (_id: string) => {};
    session.onNotification = (payload) => {
      lastNewsMs = clock.now().monoMs;
      const test = testIn(payload);
      if (test === undefined) onPayload(payload);
      else onTest(test);
    };
    const closed = new Promise<void>((resolve, reject) => {
      session.onClose = (error) => (error ? reject(error) : resolve());
    });
    closed.catch(() => {});
    const [row] = await ask(session, channelSql, [name]);
    const channel = String(row?.channel);
    await ask(session, `LISTEN ${channel}`, []);
    const arrived = new Promise<string>((resolve) => {
      onTest = resolve;
    });
    await sendTest(parts, channel, signal);
    if (!(await within(clock, testMs, Promise.race([arrived, closed])))) {
      await ask(session, `UNLISTEN ${channel}`, []);
      throw new NoNotifications("notifications do not arrive");
    }
    onUp();
    while ((await first(clock, { closed, silent: silenceMs, aborted: signal })) === "silent") {
      if (clock.now().monoMs - lastNewsMs >= silenceMs) await ask(session, "SELECT 1", []);
    }
    if (!signal.aborted) throw new Error("the server closed the connection");
  } finally {
    off();
    connection.close();
  }

  function ask(session: Session, text: string, values: readonly unknown[]) {
    return limited(clock, stepMs, signal, (limit) => session.query(text, values, limit));
  }
}

/** From another connection: a pooler would return it on the one that sent it, and show nothing. */
async function sendTest({ urls, open, clock, random }: ListenerParts, channel: string, signal: AbortSignal) {
  const connection = new Connection(urls, open);
  try {
    const payload = JSON.stringify({ test: String(random()) });
    await limited(clock, stepMs, signal, (limit) =>
      connection.query("SELECT pg_notify($1, $2)", [channel, payload], limit),
    );
  } finally {
    connection.close();
  }
}

function testIn(payload: string): string | undefined {
  try {
    const { test } = JSON.parse(payload);
    return typeof test === "string" ? test : undefined;
  } catch {
    return undefined;
  }
}

/** Runs a step that is aborted after `ms`, or when the signal aborts. */
async function limited<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  step: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const cancel = after(clock, ms, () => limit.abort());
  const off = onAbort(signal, () => limit.abort());
  if (signal.aborted) limit.abort();
  try {
    return await step(limit.signal);
  } finally {
    cancel();
    off();
  }
}
