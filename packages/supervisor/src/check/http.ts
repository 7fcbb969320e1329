/** Passed by any answer from 200 to 399, as the kubelet has it. Redirects are not followed; certificates are not checked. */
import type { IncomingMessage } from "node:http";

export async function askHttp(url: string, signal: AbortSignal): Promise<void> {
  // Loaded when asked for: many supervisors check nothing.
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const status = await new Promise<number>((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage) => {
      // Nobody reads the body; a connection for one question is not worth keeping.
      answer.on("error", () => {}).destroy();
      resolve(answer.statusCode ?? 0);
    };
    // The certificate is that of the service's name, and this asks the pod itself.
    const options = { signal, agent: false, rejectUnauthorized: false, headers: { "user-agent": "tenure" } };
    request(url, options, onAnswer).on("error", reject).end();
  });
  if (status < 200 || status > 399) throw new Error(`answered ${status}`);
}
