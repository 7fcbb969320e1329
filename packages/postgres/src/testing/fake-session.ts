/** A session without a server: the test answers each query. */
import type { OpenSession, Row, Session } from "../session.ts";

export type AnswerQuery = (text: string, values: readonly unknown[]) => readonly Row[] | Error | "hang";

export class FakeSession implements Session {
  isClosed = false;
  readonly role = "worker";
  onNotification: ((payload: string) => void) | undefined;
  onClose: ((error: Error | undefined) => void) | undefined;
  readonly #answer: AnswerQuery;

  constructor(answer: AnswerQuery) {
    this.#answer = answer;
  }

  query(text: string, values: readonly unknown[], signal: AbortSignal): Promise<readonly Row[]> {
    const answer = text.startsWith("SHOW ") ? [{ transaction_read_only: "off" }] : this.#answer(text, values);
    if (answer instanceof Error) return Promise.reject(answer);
    if (answer !== "hang") return Promise.resolve(answer);
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
    );
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClose?.(undefined);
  }
}

/** Opens fake sessions, and remembers them. A server whose answer is an Error refuses connections. */
export function fakeServers(answers: Readonly<Record<string, AnswerQuery | Error>>) {
  const opened: { readonly url: string; readonly session: FakeSession }[] = [];
  const open: OpenSession = async (url) => {
    const answer = answers[url];
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error(`unknown server ${url}`);
    const session = new FakeSession(answer);
    opened.push({ url, session });
    return session;
  };
  return { open, opened };
}
