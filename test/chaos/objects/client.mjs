// @ts-check
/** Plain HTTP requests to several API servers of one cluster, so that no client library hides what they answer. */
import { Agent, request as httpsRequest } from "node:https";
import { createInterface } from "node:readline";
import { load } from "js-yaml";
import { answerMs } from "./judge.mjs";

/** A watch of objects that change all the time is dead when it is silent for this long. */
const silentMs = 4_000;

export class ApiClient {
  #token;
  #agent;

  /** @param {string} kubeconfig of any of the servers: they have the same credentials */
  constructor(kubeconfig) {
    const config = /** @type {any} */ (load(kubeconfig));
    this.#token = config.users[0].user.token;
    const ca = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64");
    this.#agent = new Agent({ keepAlive: true, ca });
  }

  /**
   * Rejects if there is no answer.
   * @param {string} server
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @returns {Promise<{ status: number, body: any }>}
   */
  request(server, method, path, body) {
    return new Promise((resolve, reject) => {
      const request = this.#send(server, method, path, body);
      const limit = setTimeout(() => request.destroy(new Error(`no answer within ${answerMs} ms`)), answerMs);
      request.on("close", () => clearTimeout(limit));
      request.on("error", reject);
      request.on("response", (response) => {
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("end", () => {
          try {
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
          } catch {
            resolve({ status: response.statusCode ?? 0, body: { message: text } });
          }
        });
      });
    });
  }

  /**
   * Resolves when the watch has ended, for whatever reason.
   * @param {string} server
   * @param {string} path
   * @param {(event: { type: string, object: any }) => void} onEvent
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  watch(server, path, onEvent, signal) {
    return new Promise((resolve) => {
      const request = this.#send(server, "GET", path);
      const end = () => request.destroy();
      let limit = setTimeout(end, silentMs);
      signal.addEventListener("abort", end);
      request.on("error", () => {});
      request.on("close", () => {
        clearTimeout(limit);
        signal.removeEventListener("abort", end);
        resolve();
      });
      request.on("response", (response) => {
        if (response.statusCode !== 200) return end();
        const lines = createInterface({ input: response });
        // The end of the request follows.
        lines.on("error", () => {});
        lines.on("line", (line) => {
          if (request.destroyed) return;
          clearTimeout(limit);
          limit = setTimeout(end, silentMs);
          onEvent(JSON.parse(line));
        });
      });
    });
  }

  close() {
    this.#agent.destroy();
  }

  /** @param {string} server @param {string} method @param {string} path @param {object} [body] */
  #send(server, method, path, body) {
    const text = body ? JSON.stringify(body) : "";
    const request = httpsRequest(new URL(path, server), {
      method,
      agent: this.#agent,
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        // Without it, Node does not say where the body of a DELETE ends.
        "content-length": Buffer.byteLength(text),
      },
    });
    request.end(text);
    return request;
  }
}
