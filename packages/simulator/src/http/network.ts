/**
 * Replaces node:http for one process: requests travel through the faulty link to the simulated API. Answers can be late, lost
 * after the commit, cut in the middle, or come from a proxy that is not an API server.
 */
import type { Platform } from "@tenure/kube/internal";
import type { ErrorKind } from "../connection.ts";
import type { Endpoint, HttpAnswer } from "./endpoint.ts";
import {
  type NetworkParts,
  type Outgoing,
  proofOf,
  SimulatedAgent,
  SimulatedRequest,
  SimulatedResponse,
  systemError,
} from "./messages.ts";
import { WatchStream } from "./watch-stream.ts";

export function simulatedHttp(parts: NetworkParts): NonNullable<Platform["http"]> {
  const network = new Network(parts);
  const request = (options: unknown) => new SimulatedRequest(options as Outgoing, network.send);
  return { request, Agent: SimulatedAgent } as unknown as NonNullable<Platform["http"]>;
}

/** Node's codes for a connection that does not come about or breaks. */
const networkErrors = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ETIMEDOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HPE_INVALID_CONSTANT",
] as const;

class Network {
  readonly #parts: NetworkParts;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  readonly send = (request: SimulatedRequest, body: string): void => {
    const { link, scheduler } = this.#parts;
    if (link.requestsCut) return;
    scheduler.after(link.latencyMs(), () => this.#arrive(request, body));
  };

  #arrive(request: SimulatedRequest, body: string): void {
    const { api, link, scheduler, random, writer } = this.#parts;
    const { method, path } = request.outgoing;
    const error = link.errors && random.chance(link.errors.probability) ? link.errors.kind : undefined;
    if (api.store.isDown) {
      this.#fail(request, request.reusedSocket ? "ECONNRESET" : "ECONNREFUSED");
      return;
    }
    if (error === "network") {
      this.#fail(request, random.pick(networkErrors));
      return;
    }
    const incoming = { writer, method, path, body };
    const endpoint = api.at(incoming);
    if (method !== "GET" && endpoint === api.objects[link.rejectedObject ?? -1]) {
      const rejections = [endpoint.status(500, "InternalError"), endpoint.status(422, "Invalid")];
      this.#answer(request, random.pick(rejections), false);
      return;
    }
    const proof = proofOf(request.outgoing);
    const execute = () => api.handle(incoming, proof);
    const isWatch = path.includes("watch=true");
    if (isWatch && (error === undefined || error === "conflict" || error === "cut")) {
      if (!api.accounts.accepts(proof)) this.#answer(request, endpoint.status(401, "Unauthorized"), false);
      else new WatchStream(this.#parts, endpoint, request, { endsInLine: error === "cut" }).open();
      return;
    }
    const answer =
      error && error !== "cut" ? this.#errorAnswer(error, endpoint, method, isWatch, execute) : execute();
    if (!isWatch && random.chance(link.duplicateRequests)) {
      scheduler.after(link.latencyMs() + random.between(0, 4_000), execute);
    }
    this.#answer(request, answer, error === "cut");
  }

  #errorAnswer(
    error: Exclude<ErrorKind, "cut" | "network">,
    endpoint: Endpoint,
    method: string,
    isWatch: boolean,
    execute: () => HttpAnswer,
  ): HttpAnswer {
    const { random } = this.#parts;
    switch (error) {
      case "conflict":
        return method === "PUT" ? endpoint.status(409, "Conflict") : execute();
      case "throttled": {
        const headers = { "retry-after": String(random.integer(1, 5)) };
        return random.chance(0.5)
          ? endpoint.status(429, "TooManyRequests", { headers })
          : { ...page(429, "slow down"), headers };
      }
      case "denied":
        return random.pick([
          endpoint.status(401, "Unauthorized"),
          endpoint.status(403, "Forbidden"),
          page(401, ""),
          page(403, "<html>Forbidden</html>"),
        ]);
      case "internal":
        if (!isWatch && random.chance(0.5)) execute();
        return random.pick([
          endpoint.status(500, "InternalError"),
          endpoint.status(504, "Timeout"),
          page(500, ""),
          page(504, "<html>Gateway Timeout</html>"),
        ]);
      case "unavailable":
        return random.chance(0.5)
          ? endpoint.status(503, "ServiceUnavailable")
          : page(503, "<html>busy</html>");
      case "proxy":
        return random.pick([
          page(404, "404 page not found"),
          page(502, "<html>Bad Gateway</html>"),
          page(200, "<html>Sign in</html>"),
          { ...page(302, ""), headers: { location: "https://login.example.com" } },
          // A gateway that speaks JSON, but not about this object.
          { ...page(404, JSON.stringify({ kind: "Status", code: 404, reason: "NotFound" })), headers: {} },
        ]);
    }
  }

  #answer(request: SimulatedRequest, answer: HttpAnswer, isCut: boolean): void {
    const { link, scheduler, random } = this.#parts;
    if (link.answersCut || random.chance(link.loseAnswers)) {
      // A lost answer leaves the connection open, or breaks it some time later.
      if (random.chance(0.3))
        scheduler.after(random.between(0, 20_000), () => this.#fail(request, "ECONNRESET"));
      return;
    }
    scheduler.after(link.latencyMs(), () => this.#parts.defer(() => this.#deliver(request, answer, isCut)));
  }

  #deliver(request: SimulatedRequest, answer: HttpAnswer, isCut: boolean): void {
    if (request.isDestroyed) return;
    const { random } = this.#parts;
    const response = new SimulatedResponse(answer);
    request.emit("response", response);
    const bytes = Buffer.from(answer.body);
    const middle = random.integer(0, Math.max(bytes.length - 1, 0));
    response.emit("data", bytes.subarray(0, middle));
    if (isCut) {
      if (random.chance(0.5)) response.emit("error", systemError("ECONNRESET"));
      response.emit("close");
      return;
    }
    response.emit("data", bytes.subarray(middle));
    request.outgoing.agent.hasSocket = true;
    response.emit("end");
    response.emit("close");
  }

  #fail(request: SimulatedRequest, code: string): void {
    this.#parts.scheduler.after(this.#parts.link.latencyMs(), () =>
      this.#parts.defer(() => {
        if (!request.isDestroyed) request.emit("error", systemError(code));
      }),
    );
  }
}

/** An answer that no API server wrote. */
function page(status: number, text: string): HttpAnswer {
  return { status, headers: { "content-type": "text/html" }, body: text };
}
