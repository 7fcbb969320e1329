/**
 * Replaces node:http for one process: requests travel through the faulty link to the simulated API. Answers can be late, lost
 * after the commit, cut in the middle, or come from a proxy that is not an API server.
 */
import type { Platform } from "@tenure/kube/internal";
import type { Link } from "../link.ts";
import type { HttpAnswer } from "./api.ts";
import {
  type NetworkParts,
  type Outgoing,
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
    const { method, path, headers } = request.outgoing;
    if (api.server.isDown) {
      this.#fail(request, request.reusedSocket ? "ECONNRESET" : "ECONNREFUSED");
      return;
    }
    const execute = () =>
      api.handle({ writer, method, path, body, authorization: headers.authorization ?? "" });
    const error = link.errors && random.chance(link.errors.probability) ? link.errors.kind : undefined;
    const isWatch = path.includes("watch=true");
    if (isWatch && (error === undefined || error === "conflict" || error === "cut")) {
      if (headers.authorization === api.authorization) new WatchStream(this.#parts, request).open();
      else this.#answer(request, api.status(401, "Unauthorized"), false);
      return;
    }
    const answer = error && error !== "cut" ? this.#errorAnswer(error, method, isWatch, execute) : execute();
    if (!isWatch && random.chance(link.duplicateRequests)) {
      scheduler.after(link.latencyMs() + random.between(0, 4_000), execute);
    }
    this.#answer(request, answer, error === "cut");
  }

  #errorAnswer(
    error: Exclude<NonNullable<Link["errors"]>["kind"], "cut">,
    method: string,
    isWatch: boolean,
    execute: () => HttpAnswer,
  ): HttpAnswer {
    const { api, random } = this.#parts;
    const page = (status: number, text: string): HttpAnswer => {
      return { status, headers: { "content-type": "text/html" }, body: text };
    };
    switch (error) {
      case "conflict":
        return method === "PUT" ? api.status(409, "Conflict") : execute();
      case "throttled":
        return api.status(429, "TooManyRequests", { "retry-after": String(random.integer(1, 5)) });
      case "denied":
        return random.chance(0.5) ? api.status(401, "Unauthorized") : api.status(403, "Forbidden");
      case "internal":
        if (!isWatch && random.chance(0.5)) execute();
        return random.chance(0.5) ? api.status(500, "InternalError") : page(500, "");
      case "unavailable":
        return random.chance(0.5) ? api.status(503, "ServiceUnavailable") : page(503, "<html>busy</html>");
      case "proxy":
        return random.pick([
          page(404, "404 page not found"),
          page(502, "<html>Bad Gateway</html>"),
          page(200, "<html>Sign in</html>"),
          { ...page(302, ""), headers: { location: "https://login.example.com" } },
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
    const { link, random } = this.#parts;
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
    link.saw(answer.shows);
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
