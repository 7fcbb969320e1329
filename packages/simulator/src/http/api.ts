/** The HTTP API over the simulated store: authentication, paths and status codes. */
import type { Store } from "../server.ts";
import type { Accounts, Proof } from "./accounts.ts";
import type { HttpAnswer, ObjectApi } from "./object-api.ts";

export interface HttpRequest {
  readonly writer: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export class HttpApi {
  readonly store: Store;
  readonly accounts: Accounts;
  readonly objects: readonly ObjectApi[];

  constructor(store: Store, accounts: Accounts, objects: readonly ObjectApi[]) {
    this.store = store;
    this.accounts = accounts;
    this.objects = objects;
  }

  /** The object that a path is about. An Event is about the last one. */
  at(path: string): ObjectApi {
    const parts = (path.split("?")[0] ?? "").split("/");
    const found = this.objects.find(({ plural }) => parts.includes(plural)) ?? this.objects.at(-1);
    return found as ObjectApi;
  }

  handle(request: HttpRequest, proof: Proof): HttpAnswer {
    const object = this.at(request.path);
    if (!this.accounts.accepts(proof)) return object.status(401, "Unauthorized");
    if (request.path.endsWith("/events")) return { status: 201, headers: {}, body: "{}" };
    return object.handle(request);
  }
}
