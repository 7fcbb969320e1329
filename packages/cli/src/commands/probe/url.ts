/** Does a URL answer with success: for exec probes where the kubelet cannot ask itself, such as on loopback. */
import type { Answer } from "./probe.ts";

export interface UrlOptions {
  readonly timeoutMs: number;
  after(ms: number, callback: () => void): () => void;
}

const longestLine = 120;

export async function probeUrl(url: URL, { timeoutMs, after }: UrlOptions): Promise<Answer> {
  const { get } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve) => {
    const answer = (ok: boolean, what: string) => {
      cancel();
      request.destroy();
      resolve({ ok, line: `${url.href} ${what}` });
    };
    const request = get(url, { agent: false }, (response) => {
      const { statusCode = 0 } = response;
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text = (text + chunk).slice(0, longestLine);
      });
      const said = () => (text.trim() ? `: ${text.trim().split("\n")[0]}` : "");
      // As the kubelet counts, except that a redirect is not followed and so proves nothing.
      response.on("close", () =>
        answer(statusCode >= 200 && statusCode < 300, `answered ${statusCode}${said()}`),
      );
    });
    request.on("error", (error: NodeJS.ErrnoException) =>
      answer(false, `did not answer: ${error.code ?? error.message}`),
    );
    const cancel = after(timeoutMs, () => answer(false, `did not answer within ${timeoutMs} ms`));
  });
}
