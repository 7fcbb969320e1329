/** Checks that a GET of a URL succeeds, for servers that the kubelet cannot reach, such as on loopback. */
import { after, type Clock } from "@tenure/base";
import type { Answer } from "./probe.ts";

const longestLine = 120;

export async function probeUrl(url: URL, timeoutMs: number, clock: Clock): Promise<Answer> {
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
      const firstLine = () => (text.trim() ? `: ${text.trim().split("\n")[0]}` : "");
      // Like the kubelet, except that a redirect is not followed and so is no success.
      response.on("close", () =>
        answer(statusCode >= 200 && statusCode < 300, `returned ${statusCode}${firstLine()}`),
      );
    });
    request.on("error", (error: NodeJS.ErrnoException) =>
      answer(false, `did not respond: ${error.code ?? error.message}`),
    );
    const cancel = after(clock, timeoutMs, () => answer(false, `did not respond within ${timeoutMs} ms`));
  });
}
