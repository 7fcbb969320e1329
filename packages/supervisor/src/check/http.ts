/** Passes if the status is from 200 to 399, as in the kubelet. Does not follow redirects and does not verify certificates. */
import type { IncomingMessage } from "node:http";

export async function checkHttp(
  url: string,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  // Loaded on demand: many supervisors have no HTTP check.
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const status = await new Promise<number>((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage) => {
      // The body is not needed, and the connection is not reused.
      answer.on("error", () => {}).destroy();
      resolve(answer.statusCode ?? 0);
    };
    // The certificate is for the name of the service, but this request goes to the pod itself.
    const options = {
      signal,
      agent: false,
      rejectUnauthorized: false,
      headers: { "user-agent": "tenure", ...headers },
    };
    request(url, options, onAnswer).on("error", reject).end();
  });
  if (status < 200 || status > 399) throw new Error(`answered ${status}`);
}
